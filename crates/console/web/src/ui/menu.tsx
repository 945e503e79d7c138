// A menu that a button opens, in the browser's top layer.

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { ButtonProps } from './button';
import { Icon, type IconName } from './icon';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly href?: string;
  readonly onSelect?: () => void;
  readonly tone?: 'bad';
  /** Marks the current one of several. */
  readonly checked?: boolean;
  readonly unavailable?: string | null;
  readonly detail?: ComponentChildren;
}

/** Items of a menu; `null` is a line between groups. */
export type MenuItems = readonly (MenuItem | null)[];

interface MenuProps extends Pick<ButtonProps, 'children' | 'icon' | 'label' | 'variant' | 'size' | 'class'> {
  readonly items: MenuItems;
  /** Draws the button itself, in place of the usual one. */
  readonly trigger?: (attributes: { popovertarget: string; 'aria-haspopup': 'menu' }) => ComponentChildren;
}

const GAP = 4;
const MARGIN = 8;

/** Puts the menu below its button, or above it if there is no room. */
function place(menu: HTMLElement, anchor: Element): void {
  const from = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = from.bottom + GAP;
  const top = below + height + MARGIN > innerHeight ? Math.max(MARGIN, from.top - GAP - height) : below;
  const alignsRight = from.left + width + MARGIN > innerWidth;
  const left = alignsRight ? from.right - width : from.left;
  menu.style.top = `${top}px`;
  menu.style.left = `${Math.max(MARGIN, left)}px`;
  menu.style.minWidth = `${from.width}px`;
}

export function Menu({ items, trigger, children, icon, label, variant, size, class: className }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  const entries = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];

  // The browser moves the focus as it opens the menu. `toggle` comes later: keys that were pressed before it would go elsewhere.
  const onBeforeToggle = (event: ToggleEvent) => {
    const [first] = entries();
    if (first) first.autofocus = event.newState === 'open';
  };
  const onToggle = (event: ToggleEvent) => {
    if (event.newState !== 'open' || !menu.current || !anchor.current?.firstElementChild) return;
    place(menu.current, anchor.current.firstElementChild);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const index = all.indexOf(document.activeElement as HTMLElement);
    const moves: Readonly<Record<string, number>> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[(next + all.length) % all.length]?.focus();
    } else if (event.key === 'Tab') menu.current?.hidePopover();
    else if (event.key.length === 1) all.find((entry) => entry.textContent?.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    // Keys of the page do nothing while a menu is open.
    if (event.key !== 'Escape') event.stopPropagation();
  };
  const select = (item: MenuItem) => {
    if (item.unavailable) return;
    menu.current?.hidePopover();
    item.onSelect?.();
  };
  const attributes = { popovertarget: id, 'aria-haspopup': 'menu' as const };
  return (
    <span class={`menu-anchor ${className ?? ''}`} ref={anchor}>
      {trigger ? trigger(attributes) : <MenuButton attributes={attributes} button={{ children, icon, label, variant, size } as ButtonProps} />}
      <div id={id} ref={menu} popover="auto" role="menu" class="menu" onBeforeToggle={onBeforeToggle as never} onToggle={onToggle as never} onKeyDown={onKeyDown}>
        {items.map((item, index) => (item === null ? <hr key={index} /> : <Item key={item.label} item={item} onSelect={() => select(item)} />))}
      </div>
    </span>
  );
}

function MenuButton({ attributes, button }: { attributes: object; button: ButtonProps }) {
  const { children, icon, label, variant = 'quiet', size = 'normal' } = button;
  return (
    <button type="button" {...attributes} aria-label={label} data-tip={children === undefined ? label : undefined} class={`button button-${variant} button-${size} ${children === undefined ? 'button-icon' : ''}`}>
      {icon && <Icon name={icon} />}{children !== undefined && <><span>{children}</span><Icon name="down" class="button-caret" /></>}
    </button>
  );
}

function Item({ item, onSelect }: { item: MenuItem; onSelect: () => void }) {
  const content = (
    <>
      {item.checked === undefined ? item.icon && <Icon name={item.icon} /> : <Icon name={item.checked ? 'check' : 'dot'} class={item.checked ? '' : 'is-invisible'} />}
      <span>{item.label}{(item.unavailable ?? item.detail) && <small>{item.unavailable ?? item.detail}</small>}</span>
    </>
  );
  const shared = { class: `menu-item ${item.tone === 'bad' ? 'is-bad' : ''}`, tabIndex: -1, 'aria-disabled': item.unavailable ? true : undefined };
  if (item.href !== undefined && !item.unavailable) return <a {...shared} role="menuitem" href={item.href} onClick={onSelect}>{content}</a>;
  const role = item.checked === undefined ? 'menuitem' : 'menuitemradio';
  return <button type="button" {...shared} role={role} aria-checked={item.checked} onClick={onSelect}>{content}</button>;
}
