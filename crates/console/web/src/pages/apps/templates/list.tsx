// Choosing a template.

import { useState } from 'preact/hooks';
import { Page, type RouteProps } from '#frame';
import { Button, Empty, Loaded, TextField } from '#ui';
import { archetypeText } from '../status';
import { t } from './messages';
import { useTemplates, type Template } from './use-templates';

export default function TemplatesPage({ params: { ws } }: RouteProps<'/w/:ws/apps/templates'>) {
  const templates = useTemplates();
  return (
    <Page title={t('title')} lead={t('lead')} crumbs={[{ label: t('apps'), href: `/w/${ws}/apps` }]} isWide>
      <Loaded resource={templates} lines={12}>{(all) => <Choose ws={ws} all={all} />}</Loaded>
    </Page>
  );
}

function Choose({ ws, all }: { ws: string; all: readonly Template[] }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = all.filter(({ id, name, description }) => `${id}\n${name}\n${description}`.toLowerCase().includes(wanted));
  return (
    <div class="templates">
      <div class="templates-search" role="search" aria-label={t('title')}><TextField label={t('search')} type="search" value={text} onInput={setText} /></div>
      {found.length === 0
        ? <Empty title={t('none')} action={<Button onClick={() => setText('')}>{t('showAll')}</Button>} />
        : <ul class="templates-list">{found.map((template) => <li key={template.id}><Option ws={ws} template={template} /></li>)}</ul>}
    </div>
  );
}

function Option({ ws, template: { id, name, description, archetype, connections, automations } }: { ws: string; template: Template }) {
  const starts = automations.length === 0 ? t('start_request') : automations.map(({ trigger }) => t(`start_${trigger}`)).join(', ');
  return (
    <a class="templates-option" href={`/w/${ws}/apps/templates/${id}`}>
      <b>{name}</b>
      <span>{description}</span>
      <small>{[archetypeText(archetype), starts, ...connections.map(({ label }) => label)].join(' · ')}</small>
    </a>
  );
}
