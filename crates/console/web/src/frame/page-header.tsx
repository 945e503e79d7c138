// The top of a page: where one is, what it is about, and what one can do.

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Tabs, type Tab } from '#ui/tabs';
import { noteVisit } from './found';
import { t } from './messages';
import { useTitle } from './title';

export interface Crumb {
  readonly label: string;
  readonly href: string;
}

interface PageProps {
  readonly title: string;
  /** Beside the title: an id, a status. */
  readonly aside?: ComponentChildren;
  /** A sentence below the title. */
  readonly lead?: ComponentChildren;
  readonly crumbs?: readonly Crumb[];
  /** One primary action, and a menu for the rest. */
  readonly actions?: ComponentChildren;
  readonly tabs?: readonly Tab[];
  /** Uses the whole width, for grids and the city. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export function Page({ title, aside, lead, crumbs = [], actions, tabs, isWide = false, children }: PageProps) {
  useTitle(title);
  // A page of an object has something beside its title once the object is there.
  const isLoaded = Boolean(aside);
  useEffect(() => { if (isLoaded) noteVisit(location.pathname, title); }, [isLoaded, title]);
  return (
    <div class={`page ${isWide ? 'is-wide' : ''}`}>
      <header class="page-head">
        <div class="page-head-text">
          {crumbs.length > 0 && <nav class="crumbs" aria-label={t('youAreHere')}>{crumbs.map(({ label, href }) => <a key={href} href={href}>{label}</a>)}</nav>}
          <div class="page-title"><h1>{title}</h1>{aside}</div>
          {lead && <p class="page-lead">{lead}</p>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {tabs && <Tabs label={title} tabs={tabs} />}
      {children}
    </div>
  );
}
