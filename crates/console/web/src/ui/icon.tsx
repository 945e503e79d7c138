// Icons: 16 × 16, drawn with a stroke in the colour of the text.

const PATHS = {
  check: 'M3 8.5l3.5 3.5L13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  search: 'M11 11l3 3M12 7.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0z',
  import: 'M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4l-4 4 4 4',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  lock: 'M4 7h8v6H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  key: 'M9.5 6.5a3 3 0 1 1-3-3 3 3 0 0 1 3 3zM8.7 8.7L13 13M11 11l1.5-1.5',
  clock: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.5V8l2.5 1.5',
  warn: 'M8 2.5L14.5 13.5h-13zM8 6.5v3M8 11.5h.01',
  info: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 7.5v3.5M8 5h.01',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3 3 0 0 1 3 8.5L4.5 7',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9',
  edit: 'M3 13l.7-3L10.5 3.2a1.4 1.4 0 0 1 2.3 2.3L6 12.3z',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5.5 3v10M10.5 3v10',
  replay: 'M3 8a5 5 0 1 0 1.6-3.7M3 2v3h3',
  wrap: 'M2 4h12M2 8h9.5a2 2 0 0 1 0 4H8M10 10l-2 2 2 2M2 12h3',
  out: 'M9 3h4v4M13 3L7.5 8.5M11 9v4H3V5h4',
  person: 'M10.5 5.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM3 13.5c.5-2.5 2.5-4 5-4s4.5 1.5 5 4',
  gear: 'M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4',
  help: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM6.3 6.3a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.8.5-.8 1.2M8 11.3h.01',
  panel: 'M2.5 3h11v10h-11zM10 3v10',
  shield: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  hand: 'M5 8V4a1 1 0 0 1 2 0v3.5M7 7V3a1 1 0 0 1 2 0v4.5M9 7V4a1 1 0 0 1 2 0v5.5c0 2.5-1.5 4-3.5 4S4.5 12.5 3 9.5c-.4-.8.8-1.5 1.4-.8L5 9.5',
  dot: 'M8 8h.01',
  ring: 'M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0z',
  arc: 'M13 8a5 5 0 1 1-5-5',
  bar: 'M4 8h8',
} as const;

export type IconName = keyof typeof PATHS;

/** Draws an icon. It has no name of its own: say in words what it means. */
export function Icon({ name, d, class: className = '' }: { name?: IconName; d?: string; class?: string }) {
  return (
    <svg class={`icon ${name === undefined ? '' : `icon-${name}`} ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={d ?? (name === undefined ? '' : PATHS[name])} />
    </svg>
  );
}
