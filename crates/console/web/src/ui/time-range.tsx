// A span of time as a filter of a list: `from` and `to` in the address.

import { useSignal } from '@preact/signals';
import { query, setQuery } from '#frame/router';
import { formatDateTime } from '#i18n';
import { Button } from './button';
import { Dialog, openDialog } from './dialog';
import { TextField } from './field';
import { Menu, type MenuItems } from './menu';
import { t } from './messages';

const HOUR = 3_600_000;
const SPANS = [['lastHour', HOUR], ['lastDay', 24 * HOUR], ['lastWeek', 7 * 24 * HOUR], ['lastMonth', 30 * 24 * HOUR]] as const;

export interface Span {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Returns the span of an address. What is no time is left out. */
export function timeRange(address: URLSearchParams): Span {
  const time = (name: string) => {
    const at = Date.parse(address.get(name) ?? '');
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  };
  return { from: time('from'), to: time('to') };
}

/** The menu with usual spans, and one to choose. */
export function TimeRange() {
  const { from, to } = timeRange(query.value);
  const choose = async () => {
    const chosen = await openDialog<Span>((close) => <SpanDialog from={from} to={to} close={close} />);
    if (chosen) setQuery({ from: chosen.from ?? null, to: chosen.to ?? null });
  };
  const items: MenuItems = [
    { label: t('anyTime'), checked: from === undefined && to === undefined, onSelect: () => setQuery({ from: null, to: null }) },
    null,
    ...SPANS.map(([label, length]) => ({ label: t(label), onSelect: () => setQuery({ from: new Date(Date.now() - length).toISOString(), to: null }) })),
    null,
    { label: t('chooseSpan'), onSelect: () => void choose() },
  ];
  const text = from === undefined ? to === undefined ? null : t('until', { to: formatDateTime(to) })
    : to === undefined ? t('since', { from: formatDateTime(from) }) : t('span', { from: formatDateTime(from), to: formatDateTime(to) });
  return <Menu items={items} size="small" class={text === null ? '' : 'is-set'}>{text === null ? t('time') : <b>{text}</b>}</Menu>;
}

/** Returns a time as its field has it: the local one, to the minute. */
function localText(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function SpanDialog({ from, to, close }: Span & { close: (span?: Span) => void }) {
  const first = useSignal(localText(from));
  const last = useSignal(localText(to));
  const time = (text: string) => (text === '' ? undefined : new Date(text).toISOString());
  const isBackwards = first.value !== '' && last.value !== '' && first.value >= last.value;
  return (
    <Dialog title={t('chooseSpan')} onClose={() => close()} actions={<Button type="submit" form="time-span" variant="primary" unavailable={isBackwards ? t('spanBackwards') : null}>{t('showSpan')}</Button>}>
      <form id="time-span" class="time-span" onSubmit={(event) => { event.preventDefault(); if (!isBackwards) close({ from: time(first.value), to: time(last.value) }); }}>
        <TextField label={t('spanFrom')} type="datetime-local" value={first.value} onInput={(value) => { first.value = value; }} autofocus />
        <TextField label={t('spanTo')} type="datetime-local" value={last.value} onInput={(value) => { last.value = value; }} error={isBackwards ? t('spanBackwards') : undefined} />
      </form>
    </Dialog>
  );
}
