// Runs by time, as bars that narrow the list to their time.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { query, setQuery } from '#frame';
import { formatDateTime, formatNumber } from '#i18n';
import { Button } from '#ui';
import { t } from './messages';

interface Filters {
  readonly appId?: string | undefined;
  readonly automationId?: string | undefined;
  readonly status?: Schemas['RunStatus'] | undefined;
  readonly trigger?: Schemas['TriggerKind'] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

type Bar = Schemas['RunBar'];

const sum = ({ succeeded, failed, blocked, unfinished }: Bar): number => succeeded + failed + blocked + unfinished;

/** The runs of the last day, or of the time that is chosen. What was not counted is hatched and not drawn as empty. */
export function RunBars({ ws, filters }: { ws: string; filters: Filters }) {
  const { data } = useResource('/v1/workspaces/{ws}/runs/histogram', { path: { ws }, query: filters }, { on: ['run'] });
  if (data === undefined) return <div class="runs-bars is-waiting" />;
  const length = data.barSeconds * 1_000;
  const [first, last] = [Math.floor(Date.parse(data.from) / length), Math.ceil(Date.parse(data.to) / length)];
  const counted = new Map(data.bars.map((bar) => [Date.parse(bar.at) / length, bar]));
  const highest = Math.max(1, ...data.bars.map(sum));
  const known = Date.parse(data.completeFrom);
  const bars = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  const total = data.bars.reduce((all, bar) => all + sum(bar), 0);
  const isNarrowed = query.value.has('from') || query.value.has('to');
  return (
    <figure class="runs-bars" aria-label={t('byTime')}>
      <figcaption class="muted">
        {t('byTimeFrom', { count: total, from: formatDateTime(Math.max(known, Date.parse(data.from))), to: formatDateTime(data.to) })}
        {isNarrowed && <Button size="small" variant="plain" icon="cross" onClick={() => setQuery({ from: null, to: null })}>{t('anyTime')}</Button>}
      </figcaption>
      <div class="runs-bars-row">
        {bars.map((index) => {
          const bar = counted.get(index);
          const at = index * length;
          if (bar === undefined) return <span key={index} class={at + length <= known ? 'is-unknown' : ''} title={at + length <= known ? t('notCounted') : undefined} />;
          const words = t('barOf', { when: formatDateTime(at), total: formatNumber(sum(bar)), failed: formatNumber(bar.failed), blocked: formatNumber(bar.blocked) });
          const narrow = () => setQuery({ from: new Date(at).toISOString(), to: new Date(at + length).toISOString() });
          return (
            <button key={index} type="button" class={at < known && known > Date.parse(data.from) ? 'is-unknown' : ''} title={words} aria-label={words} onClick={narrow} style={{ '--height': sum(bar) / highest }}>
              {(['failed', 'blocked', 'unfinished', 'succeeded'] as const).map((kind) => bar[kind] > 0 && <i key={kind} class={`is-${kind}`} style={{ flexGrow: bar[kind] }} />)}
            </button>
          );
        })}
      </div>
    </figure>
  );
}
