// Every component of the console, to look at. In development builds only.

import { Page, toast } from '#frame';
import { Button, Icon, Menu, Segments, Tabs } from '#ui';
import { Content } from './content';
import { Editors } from './editors';
import { Forms } from './forms';
import { Feedback } from './feedback';
import { Part } from './part';

const TABS = [{ href: '/gallery', label: 'Overview' }, { href: '/gallery/panel', label: 'Panel', count: 3 }];

export default function Gallery() {
  const actions = (
    <>
      <Button variant="primary" onClick={() => toast('Saved', { action: { label: 'Take back', run: () => undefined } })}>Save changes</Button>
      <Menu icon="more" label="More actions" items={[{ label: 'Rename', icon: 'edit' }, { label: 'Pause', icon: 'pause', unavailable: 'It runs right now' }, null, { label: 'Delete', icon: 'trash', tone: 'bad' }]} />
    </>
  );
  return (
    <Page title="Gallery" lead="Every component, in the theme that you have chosen." crumbs={[{ label: 'Console', href: '/' }]} actions={actions} tabs={TABS}>
      <Part title="Buttons">
        <Button variant="primary">Publish version</Button><Button icon="copy">Copy</Button><Button variant="plain">Cancel</Button><Button variant="danger">Delete app</Button>
        <Button busy variant="primary">Publishing</Button><Button unavailable="You need the role builder">Roll back</Button><Button size="small" icon="filter">Small</Button><Button icon="refresh" label="Refresh" />
        <Segments label="Mode" value="a" options={[{ value: 'a', label: 'Read' }, { value: 'b', label: 'Write' }]} onChange={() => undefined} /><Icon name="shield" />
      </Part>
      <Part title="Tabs"><Tabs label="Parts" tabs={TABS} /></Part>
      <Forms />
      <Content />
      <Feedback />
      <Editors />
    </Page>
  );
}
