// A value as a tree that folds.

import { useState } from 'preact/hooks';
import { Copyable } from './copyable';
import { Icon } from './icon';
import { t } from './messages';

const OPEN_DEPTH = 2;
const MAX_CHILDREN = 100;
const MAX_TEXT = 2_000;

function Scalar({ value }: { value: unknown }) {
  if (value === null) return <span class="json-null">null</span>;
  if (typeof value !== 'string') return <span class="json-number">{String(value)}</span>;
  const text = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  return <span class="json-text">{JSON.stringify(text)}</span>;
}

function Node({ name, value, depth }: { name: string | null; value: unknown; depth: number }) {
  const isBranch = typeof value === 'object' && value !== null;
  const entries = isBranch ? Object.entries(value) : [];
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= 20);
  const [limit, setLimit] = useState(MAX_CHILDREN);
  const label = name !== null && <span class="json-name">{name}: </span>;
  if (!isBranch || entries.length === 0) return <li>{label}{isBranch ? <span class="json-null">{Array.isArray(value) ? '[]' : '{}'}</span> : <Scalar value={value} />}</li>;
  const [left, right] = Array.isArray(value) ? '[]' : '{}';
  return (
    <li>
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="right" />{label}{left}{!isOpen && <span class="json-null"> {t('entries', { count: entries.length })} {right}</span>}
      </button>
      {isOpen && (
        <>
          <ul>
            {entries.slice(0, limit).map(([key, child]) => <Node key={key} name={Array.isArray(value) ? null : key} value={child} depth={depth + 1} />)}
            {entries.length > limit && <li><button type="button" class="link" onClick={() => setLimit(limit + MAX_CHILDREN)}>{t('showMore', { count: entries.length - limit })}</button></li>}
          </ul>
          <span>{right}</span>
        </>
      )}
    </li>
  );
}

/** Shows a value of JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <div class="json" role="group" aria-label={label}>
      <ul><Node name={null} value={value} depth={0} /></ul>
      <Copyable value={JSON.stringify(value, null, 2)} shown="JSON" />
    </div>
  );
}
