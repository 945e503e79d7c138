import { Problem } from '#api/problem';
import { toast } from '#frame';
import { Button, Empty, Notice, ProblemView, Progress, Skeleton, confirm, revealSecret } from '#ui';
import { Part } from './part';

export function Feedback() {
  return (
    <>
      <Part title="Dialogs">
        <Button onClick={() => void confirm({ title: 'Cancel this run?', body: 'Its code is stopped where it is.', action: 'Cancel run', tone: 'bad' })}>Confirm</Button>
        <Button onClick={() => void confirm({ title: 'Delete Price watcher?', body: 'Its versions and runs go with it.', action: 'Delete app', tone: 'bad', typed: 'Price watcher' })}>Confirm, typed</Button>
        <Button onClick={() => void revealSecret({ title: 'Your new token', secret: 'qat_8fJ2kq0XvN3mZ7wRb5tYc1LhPd9sGuEa' })}>Secret</Button>
        <Button onClick={() => toast('The server refused it.', { tone: 'bad', detail: 'Ask an admin. · req_01m86m590sfg' })}>Problem in a toast</Button>
      </Part>
      <Part title="Notices">
        <Notice tone="warn" actions={<Button size="small">Open gate</Button>}>The app gains access to prices.example.kz.</Notice>
        <Notice tone="ask">This run waits for a person.</Notice>
        <Progress label="Import" value={420} max={1_000} />
        <ProblemView problem={new Problem(409, 'conflict', 'Somebody created the same thing at the same time.', 'Read it again, then decide.', 'req_01m86m590sfgstb0zzgrx5n6n1')} onRetry={() => undefined} />
      </Part>
      <Part title="Nothing yet">
        <Empty title="No apps yet" action={<><Button variant="primary" icon="plus">Create app</Button><Button>Import one</Button></>}><p>An app is code with a manifest that says what it may use.</p></Empty>
        <Skeleton />
      </Part>
    </>
  );
}
