// Filters of a list. They are the query of the address, so that a link leads to what one sees.

import type { ComponentChildren } from 'preact';
import { signal, useSignal } from '@preact/signals';
import { query, setQuery } from '#frame/router';
import { Button } from './button';
import { Dialog, openDialog } from './dialog';
import { TextField, type Option } from './field';
import { Menu, type MenuItems } from './menu';
import { t } from './messages';

export interface Filter {
  /** Name of the query parameter. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
}

interface FilterBarProps {
  readonly filters: readonly Filter[];
  /** Query parameters of other filters in the bar, which are cleared and saved with these. */
  readonly others?: readonly string[];
  /** Name under which the views of this list are saved in the browser. */
  readonly views?: string;
  readonly children?: ComponentChildren;
}

export function FilterBar({ filters, others = [], views, children }: FilterBarProps) {
  const names = [...filters.map(({ name }) => name), ...others];
  const isFiltered = names.some((name) => query.value.has(name));
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, null])));
  return (
    <div class="filter-bar" role="search" aria-label={t('filter')}>
      {filters.map((filter) => <FilterMenu key={filter.name} filter={filter} />)}
      {children}
      {isFiltered && <Button variant="plain" size="small" icon="cross" onClick={clear}>{t('clearFilters')}</Button>}
      {views !== undefined && <Views name={views} parameters={names} isFiltered={isFiltered} />}
    </div>
  );
}

function FilterMenu({ filter: { name, label, options } }: { filter: Filter }) {
  const value = query.value.get(name);
  const chosen = options.find((option) => option.value === value);
  const items: MenuItems = [
    { label: t('anyValue'), checked: value === null, onSelect: () => setQuery({ [name]: null }) },
    null,
    ...options.map((option) => ({ label: option.label, checked: option.value === value, onSelect: () => setQuery({ [name]: option.value }) })),
  ];
  return <Menu items={items} size="small" class={value === null ? '' : 'is-set'}>{value === null ? label : <>{label} <b>{chosen?.label ?? value}</b></>}</Menu>;
}

interface SavedView {
  readonly name: string;
  readonly query: string;
}

const changes = signal(0);

function savedViews(key: string): readonly SavedView[] {
  void changes.value;
  try {
    return JSON.parse(localStorage.getItem(`qala.views.${key}`) ?? '[]') as SavedView[];
  } catch {
    return [];
  }
}

function saveViews(key: string, views: readonly SavedView[]): void {
  try {
    localStorage.setItem(`qala.views.${key}`, JSON.stringify(views));
  } catch {
    // Without storage, views are not kept.
  }
  changes.value += 1;
}

function Views({ name, parameters, isFiltered }: { name: string; parameters: readonly string[]; isFiltered: boolean }) {
  const saved = savedViews(name);
  const current = query.value.toString();
  const apply = (text: string) => {
    const values = new URLSearchParams(text);
    setQuery(Object.fromEntries(parameters.map((parameter) => [parameter, values.get(parameter)])));
  };
  const save = async () => {
    const title = await openDialog<string>((close) => <NameView close={close} />);
    if (title) saveViews(name, [...saved.filter((view) => view.name !== title), { name: title, query: current }]);
  };
  const shown = saved.find((view) => view.query === current);
  const items: MenuItems = [
    ...saved.map((view) => ({ label: view.name, checked: view === shown, onSelect: () => apply(view.query) })),
    ...(saved.length > 0 ? [null] : []),
    shown
      ? { label: t('removeView'), icon: 'trash' as const, onSelect: () => saveViews(name, saved.filter((view) => view !== shown)) }
      : { label: t('saveView'), icon: 'plus' as const, onSelect: () => void save() },
  ];
  if (saved.length === 0 && !isFiltered) return null;
  return <Menu items={items} size="small" class="filter-views">{shown?.name ?? t('views')}</Menu>;
}

function NameView({ close }: { close: (name?: string) => void }) {
  const name = useSignal('');
  return (
    <Dialog title={t('saveView')} onClose={() => close()} actions={<Button type="submit" form="name-view" variant="primary">{t('save')}</Button>}>
      <form id="name-view" onSubmit={(event) => { event.preventDefault(); close(name.value.trim()); }}>
        <TextField label={t('viewName')} value={name.value} onInput={(value) => { name.value = value; }} required maxlength={40} autofocus />
      </form>
    </Dialog>
  );
}
