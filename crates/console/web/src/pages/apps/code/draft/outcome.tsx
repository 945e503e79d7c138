// What a draft did: its response, its log, its calls, and what it was refused.

import type { Schemas } from '#api/types';
import { formatNumber } from '#i18n';
import { Badge, Button, Code, Log, Notice, jsonProblem } from '#ui';
import { formatJson } from '#ui/json-text';
import { t } from './messages';

export type DraftRun = Schemas['DraftRun'];

/** Returns JSON on several lines, and any other text as it is. */
function readable(body: string): { readonly text: string; readonly language: 'json' | 'text' } {
  return jsonProblem(body) === null ? { text: formatJson(body), language: 'json' } : { text: body, language: 'text' };
}

export function Outcome({ outcome, onPlan }: { outcome: DraftRun; onPlan: (instruction: string) => void }) {
  const { status, error, body, headers, logs, gate, missing, rowsWritten, durationMs, isBase64, isCut } = outcome;
  const shown = body === null ? null : readable(body);
  const lines = logs.map((line, index) => ({ ...line, id: index + 1, appId: '', runId: null }));
  return (
    <>
      <p class="draft-status">
        <Badge tone={status < 400 ? 'ok' : 'bad'}>{String(status)}</Badge>
        <span class="muted">{t('took', { duration: formatNumber(durationMs) })}</span>
        {rowsWritten > 0 && <span class="muted">{t('rows', { count: rowsWritten })}</span>}
      </p>
      {error && <Notice tone="bad"><p><code>{error.code}</code> {error.message}</p></Notice>}
      {missing.map(({ request, code, instruction }) => (
        <Notice key={`${request} ${code}`} tone="warn" actions={instruction !== null && <Button size="small" onClick={() => onPlan(instruction)}>{t('plan')}</Button>}>
          <p>{t.rich(instruction === null ? 'closed' : 'refused', { request: <code>{request}</code> })}</p>
        </Notice>
      ))}
      {shown && <Code label={t('response')} value={shown.text} language={shown.language} height="short" />}
      {(isCut || isBase64) && <p class="muted">{[isCut && t('cut'), isBase64 && t('base64')].filter(Boolean).join(' ')}</p>}
      {headers.length > 0 && <details><summary>{t('headers', { count: headers.length })}</summary><ul class="draft-lines">{headers.map(({ name, value }) => <li key={`${name}: ${value}`}><code>{name}: {value}</code></li>)}</ul></details>}
      {lines.length > 0 && <Log lines={lines} label={t('log')} />}
      {gate.length > 0 && <details><summary>{t('calls', { count: gate.length })}</summary><ul class="draft-lines">{gate.map(({ label, detail, status: of }, index) => <li key={index} class={of === 'ok' ? '' : 'draft-refused'}><code>{label}</code> {detail}</li>)}</ul></details>}
    </>
  );
}
