import type { Schemas } from '#api/types';

/** A person, in their colour. */
export function Avatar({ user, size = 'normal' }: { user: Pick<Schemas['User'], 'initials' | 'color' | 'name'>; size?: 'small' | 'normal' | 'large' }) {
  return <span class={`avatar avatar-${size} person-${user.color}`} title={user.name} aria-hidden="true">{user.initials}</span>;
}

/** A person with their name. */
export function Person({ user }: { user: Pick<Schemas['User'], 'initials' | 'color' | 'name'> }) {
  return <span class="person"><Avatar user={user} size="small" /><span>{user.name}</span></span>;
}
