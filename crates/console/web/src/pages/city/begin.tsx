// A workspace without apps: a plot with a crane, and three ways to begin.

import { Icon } from '#ui';
import type { ComponentProps } from 'preact';
import { hasRole, isReadOnly } from '#frame';
import { Post, Tree } from './art';
import { isometric, polygonPath } from './geometry/projection';
import { corners } from './geometry/town';
import { pathsOfKind } from './building';
import { t } from './messages';

const GROUND = polygonPath(corners({ x: -1, y: -1, w: 5.4, d: 5.6 }).map(isometric));
const STREET = polygonPath(corners({ x: -1, y: 3.7, w: 5.4, d: 0.9 }).map(isometric));
const TREES = [[-0.3, 0.2], [3.9, 0.6], [3.8, 3]] as const;

export function Begin({ ws }: { ws: string }) {
  const mayBuild = hasRole('builder') && !isReadOnly.value;
  const place = (x: number, y: number) => `translate(${isometric([x, y, 0]).join(' ')})`;
  return (
    <section class="card city-begin">
      <svg class="city-plot" viewBox="-200 -110 400 300" aria-hidden="true">
        <path class="city-ground" d={GROUND} /><path class="city-street" d={STREET} />
        <g transform={place(-0.3, 0.2)}><Tree /></g>
        <g class="city-building">{pathsOfKind('site', false, isometric).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}</g>
        {TREES.slice(1).map(([x, y]) => <g key={x} transform={place(x, y)}><Tree /></g>)}
        <g transform={place(0.4, 3.3)}><Post kind="webhook" isOff /></g>
      </svg>
      <div class="city-begin-text">
        <h2>{t('emptyTitle')}</h2>
        <p>{mayBuild ? t('emptyBody') : t('emptyWait')}</p>
        {mayBuild && (
          <ul class="city-ways">
            <Way href={`/w/${ws}/apps/new?from=starter`} icon="plus" title={t('wayStarter')} text={t('wayStarterText')} />
            <Way href={`/w/${ws}/apps/new?from=files`} icon="copy" title={t('wayFiles')} text={t('wayFilesText')} />
            <Way href={`/w/${ws}/automations/new?trigger=webhook`} icon="right" title={t('wayWebhook')} text={t('wayWebhookText')} />
          </ul>
        )}
      </div>
    </section>
  );
}

function Way({ href, icon, title, text }: { href: string; icon: NonNullable<ComponentProps<typeof Icon>['name']>; title: string; text: string }) {
  return <li><a href={href}><Icon name={icon} /><span><b>{title}</b><small>{text}</small></span></a></li>;
}
