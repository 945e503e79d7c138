import { Avatar, Badge, Bars, Card, Chart, Copyable, DurationBar, Facts, Json, Log, RunStatus, Sparkline, Status, Table, Time, type LogLine } from '#ui';
import { Part } from './part';

const COLOURS = ['sky', 'pool', 'bubblegum', 'leaf', 'lilac', 'sun', 'tangerine', 'tomato'] as const;
const STATUSES = ['queued', 'running', 'waiting_approval', 'succeeded', 'failed', 'blocked'] as const;
const HOUR = 3_600;
const NOW = Math.floor(Date.now() / 1_000 / HOUR) * HOUR;
const TIMES = Array.from({ length: 48 }, (_, index) => NOW - (47 - index) * HOUR);
const RUNS = TIMES.map((_, index) => Math.round(40 + 30 * Math.sin(index / 4) + (index * 7) % 11));

const line = (id: number, level: LogLine['level'], source: LogLine['source'], message: string): LogLine => ({ id, level, source, message, at: new Date(NOW * 1_000 + id * 40).toISOString(), appId: 'app_0', runId: null });
const LINES = [
  line(1, 'info', 'app', '40 watches to look at'), line(2, 'info', 'gate', 'GET api.example.kz/v2/prices → 200, 1.18 s'), line(3, 'debug', 'app', '38 prices unchanged'),
  line(4, 'warn', 'gate', 'GET prices.example.kz refused: egress_denied'), line(5, 'error', 'app', 'Error: the manifest does not name prices.example.kz\n    at lookUp (main.js:31:18)'),
];

export function Content() {
  return (
    <>
      <Part title="States">
        {STATUSES.map((status) => <RunStatus key={status} status={status} />)}
        <Status tone="warn" icon="warn">Warning</Status>
        {(['neutral', 'ok', 'warn', 'bad', 'info', 'ask'] as const).map((tone) => <Badge key={tone} tone={tone}>{tone}</Badge>)}
      </Part>
      <Part title="People, ids, times">
        {COLOURS.map((color) => <Avatar key={color} user={{ initials: 'AK', color, name: color }} />)}
        <Copyable value="run_01m829w4q6ejc8dvfze00vv71y" /><Time at={new Date(NOW * 1_000).toISOString()} /><DurationBar ms={1_240} of={2_000} /><DurationBar ms={2_900} of={2_000} tone="warn" />
        <Sparkline values={RUNS} label="Runs of two days" /><Bars label="Health" values={RUNS.slice(0, 24).map((value) => ({ tone: value > 60 ? 'warn' : 'ok', title: String(value) }))} />
      </Part>
      <Part title="Facts and tables">
        <Facts facts={[['Automation', 'Every 15 minutes'], ['Started by', 'Schedule'], ['Version', '12, current'], null]} />
        <Card title="Members" aside="6 in all">
          <Table label="Members" head={['Name', 'Role', { text: 'Runs', align: 'end' }]}><tr><td>Ana Karim</td><td>Owner</td><td class="is-end">1,284</td></tr><tr><td>Timur Aliyev</td><td>Builder</td><td class="is-end">92</td></tr></Table>
        </Card>
      </Part>
      <Part title="Chart"><Chart label="Runs an hour" times={TIMES} series={[{ label: 'Succeeded', tone: 'ok', values: RUNS }, { label: 'Failed', tone: 'bad', values: RUNS.map((value) => Math.max(0, value - 60)) }]} /></Part>
      <Part title="Log"><Card><Log label="Log" lines={LINES} search="price" /></Card></Part>
      <Part title="JSON"><Card><Json label="Input" value={{ invoice: 'INV-1182', customer: { name: 'Aru', country: 'KZ', tags: [] }, items: [{ sku: 'tea', amount: 1200 }, { sku: 'cup', amount: null }], paid: false }} /></Card></Part>
    </>
  );
}
