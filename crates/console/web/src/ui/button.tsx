import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { commandOf, keysShown } from '#frame/commands';
import { Icon, type IconName } from './icon';

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly variant?: 'primary' | 'quiet' | 'danger' | 'plain';
  readonly size?: 'small' | 'normal';
  readonly icon?: IconName;
  readonly type?: 'button' | 'submit';
  /** Leads somewhere instead of doing something. */
  readonly href?: string | undefined;
  readonly onClick?: (event: TargetedMouseEvent<HTMLElement>) => void;
  /** Whether what it does is under way. */
  readonly busy?: boolean;
  /** Why it cannot be used now. The button stays in reach and says so. */
  readonly unavailable?: string | null | undefined;
  /** Command whose keys the tooltip shows. */
  readonly command?: string;
  readonly label?: string;
  readonly autofocus?: boolean;
  readonly class?: string;
  readonly form?: string;
}

/** Returns the tooltip: what it is called, and its keys. */
export function tip(label: string | undefined, command: string | undefined): string | undefined {
  const keys = command === undefined ? undefined : commandOf(command)?.keys;
  return [label, keys && keysShown(keys).join(' ')].filter(Boolean).join(' · ') || undefined;
}

export function Button(props: ButtonProps) {
  const { children, variant = 'quiet', size = 'normal', icon, type = 'button', href, onClick, busy = false, unavailable, command, label, autofocus, form } = props;
  const blocked = busy || Boolean(unavailable);
  const shared = {
    class: `button button-${variant} button-${size} ${children === undefined ? 'button-icon' : ''} ${busy ? 'is-busy' : ''} ${props.class ?? ''}`,
    'aria-label': label,
    'aria-busy': busy || undefined,
    'aria-disabled': blocked || undefined,
    // A tooltip is read by nobody who does not see it.
    'aria-description': unavailable || undefined,
    'data-tip': unavailable || tip(children === undefined ? label : undefined, command),
  };
  const inside = <>{icon && <Icon name={icon} />}{children !== undefined && <span>{children}</span>}</>;
  if (href !== undefined && !blocked) return <a {...shared} href={href}>{inside}</a>;
  const click = (event: TargetedMouseEvent<HTMLButtonElement>) => {
    if (blocked) event.preventDefault();
    else onClick?.(event);
  };
  return <button {...shared} type={type} form={form} autofocus={autofocus} onClick={click}>{inside}</button>;
}
