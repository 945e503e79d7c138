// The help: every shortcut that works here (?).

import { Dialog, openDialog } from '#ui/dialog';
import { commands, keysShown } from './commands';
import { t } from './messages';

let isOpen = false;

export function openHelp(): void {
  if (isOpen) return;
  isOpen = true;
  void openDialog<void>((close) => <Help close={() => close()} />).then(() => { isOpen = false; });
}

function Help({ close }: { close: () => void }) {
  const groups = new Map<string, { label: string; keys: string }[]>();
  for (const { label, keys, group = t('groupPage') } of commands.value) {
    if (keys !== undefined) groups.set(group, [...(groups.get(group) ?? []), { label, keys }]);
  }
  return (
    <Dialog title={t('shortcuts')} size="wide" onClose={close}>
      <div class="help">
        {[...groups].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>{list.map(({ label, keys }) => <div key={`${label} ${keys}`}><dt>{label}</dt><dd>{keysShown(keys).map((key) => <kbd key={key}>{key}</kbd>)}</dd></div>)}</dl>
          </section>
        ))}
      </div>
      <p class="help-foot"><a href="/docs">{t('reference')}</a></p>
    </Dialog>
  );
}
