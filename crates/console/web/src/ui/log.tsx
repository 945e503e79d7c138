// Lines of a log: in chunks that the browser draws when they come into sight.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { formatFull, formatPreciseTime } from '#i18n';
import { Icon } from './icon';
import { t } from './messages';

export type LogLine = Schemas['LogLine'];

const CHUNK = 200;
/** Pixels from the end within which the log follows what comes. */
const NEAR_END = 40;

interface LogProps {
  readonly lines: readonly LogLine[];
  readonly label: string;
  /** Text to mark in the lines. */
  readonly search?: string;
  /** Whether new lines come at the end. */
  readonly isLive?: boolean;
  readonly isMarked?: (line: LogLine) => boolean;
  readonly onPoint?: (line: LogLine | null) => void;
  /** Link to the run that wrote a line; the first line of each has one. */
  readonly runLink?: { readonly label: string; readonly href: (runId: string) => string };
  /** Tells whether the log follows what comes, or the person has scrolled away from its end. */
  readonly onFollow?: (isFollowing: boolean) => void;
}

/** Returns the id of a line's element, so that an address can lead to it. */
export function lineAnchor(id: number): string {
  return `line-${id}`;
}

function chunksOf(lines: readonly LogLine[]): (readonly LogLine[])[] {
  return Array.from({ length: Math.ceil(lines.length / CHUNK) }, (_, index) => lines.slice(index * CHUNK, (index + 1) * CHUNK));
}

export function Log({ lines, label, search = '', isLive = false, isMarked, onPoint, runLink, onFollow }: LogProps) {
  const [isWrapped, setWrapped] = useState(true);
  const [isFollowing, setFollowing] = useState(isLive);
  const scroller = useRef<HTMLDivElement>(null);
  const toEnd = () => { if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight; };
  const last = lines.at(-1)?.id;
  useEffect(() => { if (isLive && isFollowing) toEnd(); }, [last, isFollowing, isLive]);
  useEffect(() => onFollow?.(isFollowing), [isFollowing]);
  useEffect(() => { document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'center' }); }, [lines.length > 0]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { currentTarget: HTMLElement }) => setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_END);
  return (
    <div class={`log ${isWrapped ? 'is-wrapped' : ''} ${lines.length > CHUNK ? 'is-long' : ''}`}>
      <div class="log-scroll" ref={scroller} role="log" aria-label={label} tabIndex={0} onScroll={onScroll}>
        {chunksOf(lines).map((chunk, chunkIndex) => (
          <ol key={chunk[0]?.id} class="log-chunk">
            {chunk.map((line, index) => (
              <li
                key={line.id} id={lineAnchor(line.id)} class={`log-line log-${line.level} log-from-${line.source} ${isMarked?.(line) ? 'is-marked' : ''}`}
                onPointerEnter={onPoint && (() => onPoint(line))} onPointerLeave={onPoint && (() => onPoint(null))}
              >
                <a href={`#${lineAnchor(line.id)}`} tabIndex={-1} title={formatFull(line.at)}>{formatPreciseTime(line.at)}</a>
                <span><span class="hidden-text">{line.level} </span>{line.source !== 'app' && <b class="log-source">{line.source}</b>}{marked(line.message, search)}</span>
                {runLink && line.runId && lines[chunkIndex * CHUNK + index - 1]?.runId !== line.runId && <a class="log-run" href={runLink.href(line.runId)} aria-label={runLink.label} data-tip={runLink.label}><Icon name="right" /></a>}
              </li>
            ))}
          </ol>
        ))}
      </div>
      <div class="log-tools">
        <button type="button" class="icon-button" aria-pressed={isWrapped} aria-label={t('wrapLines')} data-tip={t('wrapLines')} onClick={() => setWrapped(!isWrapped)}><Icon name="wrap" /></button>
        {isLive && !isFollowing && <button type="button" class="log-follow" onClick={() => { setFollowing(true); toEnd(); }}><Icon name="down" />{t('followLog')}</button>}
      </div>
    </div>
  );
}

/** Marks where the text has what is searched for. */
function marked(text: string, search: string): ComponentChildren {
  if (search === '') return text;
  const parts: ComponentChildren[] = [];
  const folded = text.toLowerCase();
  const wanted = search.toLowerCase();
  let from = 0;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
