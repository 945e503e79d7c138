// Small things that stand in the town, drawn around the point on which they stand. The street of phones shows them too.

import type { Point } from './geometry/projection';
import type { PostKind } from './plan';

const POSTS: Readonly<Record<PostKind, { readonly body: string; readonly line: string }>> = {
  webhook: { body: 'M-8-11v-6a4.5 4.5 0 0 1 4.5-4.5h7A4.5 4.5 0 0 1 8-17v6z', line: 'M0 0v-11M3.5-21.5A4.5 4.5 0 0 0-1-17v6M5-17v-7h3.5v2.5H5' },
  schedule: { body: 'M8-18a8 8 0 1 1-16 0a8 8 0 1 1 16 0z', line: 'M0 0v-10M0-22.5v4.500l3 2' },
  form: { body: 'M-8.5-22.500h17v14h-17z', line: 'M-5 0v-8.500M5 0v-8.500M0-22.500v14M-8.5-15.500h17M-10-8.500h20' },
  manual: { body: 'M-5-9v-8.500a1.4 1.4 0 0 1 2.8 0v-3.300a1.4 1.4 0 0 1 2.8 0v-1a1.4 1.4 0 0 1 2.8 0v2a1.4 1.4 0 0 1 2.8 0v6.300c0 3-1.8 5-5.2 5c-3 0-4.5-1-6-3.500l-3-4.500a1.4 1.4 0 0 1 2.3-1.500l2.7 3', line: 'M0 0v-8M-2.2-17.500v3.500M.6-19.800v5.800M3.4-19.800v5.8' },
  event: { body: 'M-7.5-10.500c2-2 2-3.5 2-6.500a5.5 5.5 0 0 1 11 0c0 3 0 4.5 2 6.500z', line: 'M0 0v-7.500M-1.8-10.500a1.8 2.2 0 0 0 3.6 0M0-22.500v-2' },
};

/** The thing that starts automations: a mailbox, a clock, a window, a hand or a bell. */
export function Post({ kind, isOff }: { kind: PostKind; isOff: boolean }) {
  const { body, line } = POSTS[kind];
  return <g class={`city-post ${isOff ? 'is-off' : ''}`}><path class="city-post-body" d={body} /><path class="city-post-line" d={line} /></g>;
}

/** A tree. */
export function Tree({ at: [x, y] }: { at: Point }) {
  return <><path class="city-trunk" d={`M${x} ${y}v-14`} /><circle class="city-tree" cx={x} cy={y - 19} r={8.5} /></>;
}

/** A lamp over a roof, with a number or a mark. */
export function LampView({ tone, text }: { tone: 'bad' | 'warn' | 'ask'; text: string }) {
  const width = Math.max(18, 10 + text.length * 7);
  return (
    <g class={`city-lamp is-${tone}`}>
      <path class="city-post-line" d="M0 0v8" /><rect x={-width / 2} y={-18} width={width} height={18} rx={9} /><text y={-5} text-anchor="middle">{text}</text>
    </g>
  );
}

/** Shutters, which `city.css` puts over the windows of what is paused. */
export function ShutterPattern() {
  return <defs><pattern id="city-shutter" width="6" height="4" patternUnits="userSpaceOnUse"><rect class="city-shutter-back" width="6" height="4" /><rect class="city-shutter-bar" width="6" height="1.6" /></pattern></defs>;
}
