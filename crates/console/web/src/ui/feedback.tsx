// What is shown in place of content: nothing yet, nothing at all, or a problem.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '#api/problem';
import { Button } from './button';
import { Copyable } from './copyable';
import { t } from './messages';
import { ProblemText } from './problem-text';

const PATIENCE = 300;

/** Returns true once something has lasted too long to show nothing. */
export function usePatience(isWaiting: boolean): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!isWaiting) return setOver(false);
    const timer = setTimeout(() => setOver(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isWaiting && isOver;
}

/** Lines in place of content that is on its way. Shows nothing for the first moment. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  const isShown = usePatience(true);
  return (
    <div class={`skeleton ${isShown ? 'is-shown' : ''}`} role="status">
      <span class="hidden-text">{isShown ? t('loading') : ''}</span>
      {Array.from({ length: lines }, (_, index) => <span key={index} class={`skeleton-line skeleton-${index % 3}`} />)}
    </div>
  );
}

/** Says that there is nothing, and what to do about it. */
export function Empty({ title, children, action }: { title: string; children?: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <div class="prose">{children}</div>}
      {action && <div class="empty-action">{action}</div>}
    </div>
  );
}

/** Says what happened and what to do, with the number of the request. */
export function ProblemView({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <h2>{problem.isOffline ? t('offlineTitle') : <ProblemText text={problem.message} />}</h2>
      {(problem.hint ?? (problem.isOffline ? t('offlineHint') : null)) && <p>{problem.hint ? <ProblemText text={problem.hint} /> : t('offlineHint')}</p>}
      <div class="problem-foot">
        {onRetry && <Button size="small" icon="refresh" onClick={onRetry}>{t('retry')}</Button>}
        {problem.requestId && <Copyable value={problem.requestId} />}
      </div>
    </div>
  );
}

/** Something that was read, or what stands in its place. */
export function Loaded<T>({ resource, children, lines }: { resource: { readonly data: T | undefined; readonly error: Problem | undefined; readonly refresh: () => void }; children: (data: T) => ComponentChildren; lines?: number }) {
  if (resource.data !== undefined) return <>{children(resource.data)}</>;
  if (resource.error) return <ProblemView problem={resource.error} onRetry={resource.refresh} />;
  return <Skeleton {...(lines === undefined ? {} : { lines })} />;
}

/** How far something has come, if its end is known. */
export function Progress({ value, max, label }: { value: number; max: number; label: string }) {
  return <div class="progress"><progress value={value} max={max} aria-label={label} /><span>{t('progress', { value, max })}</span></div>;
}

/** A message beside what it is about. */
export function Notice({ tone = 'info', children, actions }: { tone?: 'info' | 'ok' | 'warn' | 'bad' | 'ask'; children: ComponentChildren; actions?: ComponentChildren }) {
  return <div class={`notice tone-${tone}`}><div class="prose">{children}</div>{actions && <div class="notice-actions">{actions}</div>}</div>;
}
