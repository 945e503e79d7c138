// Lines over time, with the same numbers as a table.

import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { shownTheme, theme } from '#frame/theme';
import { formatDateTime, formatNumber, formatTick } from '#i18n';
import { Button } from './button';
import { t } from './messages';
import { Table } from './table';

export interface Series {
  readonly label: string;
  readonly tone: 'accent' | 'ok' | 'warn' | 'bad' | 'info' | 'ask';
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  readonly height?: number;
}

export function Chart({ label, times, series, format = formatNumber, height = 180 }: ChartProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure class="chart" aria-label={label}>
      <figcaption>
        <span>{label}</span>
        <span class="chart-legend">{series.map((one) => <span key={one.label} class={`tone-${one.tone}`}>{one.label}</span>)}</span>
        <Button size="small" variant="plain" onClick={() => setTable(!isTable)}>{isTable ? t('asChart') : t('asTable')}</Button>
      </figcaption>
      {isTable ? <Twin label={label} times={times} series={series} format={format} /> : <Plot times={times} series={series} format={format} height={height} />}
    </figure>
  );
}

function Twin({ label, times, series, format }: Required<Pick<ChartProps, 'label' | 'times' | 'series' | 'format'>>) {
  return (
    <Table label={label} head={[t('time'), ...series.map((one) => ({ text: one.label, align: 'end' as const }))]}>
      {times.map((time, index) => (
        <tr key={time}><td>{formatDateTime(time * 1_000)}</td>{series.map((one) => <td key={one.label} class="is-end">{one.values[index] == null ? '–' : format(one.values[index])}</td>)}</tr>
      ))}
    </Table>
  );
}

/** Returns a colour as a canvas reads it: custom properties keep `light-dark()`, which it does not. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

function Plot({ times, series, format, height }: Required<Pick<ChartProps, 'times' | 'series' | 'format' | 'height'>>) {
  const host = useRef<HTMLDivElement>(null);
  const shown = theme.value && shownTheme();
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let plot: uPlot | null = null;
    let isGone = false;
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    void import('uplot').then(({ default: UPlot }) => {
      if (isGone) return;
      const colour = (name: string) => colourOf(element, name);
      const axis = { stroke: colour('n10'), grid: { stroke: colour('n4'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
      plot = new UPlot({
        width: element.clientWidth, height, legend: { show: false }, cursor: { y: false },
        axes: [{ ...axis, values: (_, splits) => splits.map((seconds) => formatTick(seconds * 1_000)) }, { ...axis, size: 56, values: (_, values) => values.map(format) }],
        series: [{}, ...series.map((one) => ({ label: one.label, stroke: colour(one.tone), width: 1.5, points: { show: false } }))],
      }, [[...times], ...series.map((one) => [...one.values])] as uPlot.AlignedData, element);
      observer.observe(element);
    });
    return () => {
      isGone = true;
      observer.disconnect();
      plot?.destroy();
    };
  }, [times, series, height, shown]);
  return <div ref={host} class="chart-host" style={{ minHeight: `${height}px` }} />;
}

/** A line without axes, beside the number that it belongs to. */
export function Sparkline({ values, label, tone = 'accent' }: { values: readonly number[]; label: string; tone?: Series['tone'] }) {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? 100 / (values.length - 1) : 100;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(23 - (value / most) * 22).toFixed(1)}`).join(' ');
  return <svg class={`sparkline tone-${tone}`} viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}><polyline points={points} /></svg>;
}

/** One bar for each value, such as the health of the last 24 hours. */
export function Bars({ values, label }: { values: readonly { readonly tone: 'ok' | 'warn' | 'bad' | 'none'; readonly title: string }[]; label: string }) {
  return <span class="bars" role="img" aria-label={label}>{values.map(({ tone, title }, index) => <span key={index} class={`bars-${tone}`} title={title} />)}</span>;
}
