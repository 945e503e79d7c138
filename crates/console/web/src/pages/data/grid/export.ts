// A table as a file.

import type { Schemas } from '#api/types';
import type { MenuItems } from '#ui';
import { toast, toastProblem } from '#frame';
import { problemOf } from '#api/problem';
import { fetchSignedIn, viewAs } from '#api/client';
import { formatNumber } from '#i18n';
import { t } from './messages';

/** Saves a text as a file of the browser's. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export async function download(project: string, table: string, format: 'csv' | 'json'): Promise<void> {
  try {
    const headers = viewAs.peek() === null ? {} : { 'qala-view-as': viewAs.peek() ?? '' };
    const response = await fetchSignedIn(`/v1/backend/projects/${project}/tables/${table}/export?format=${format}&bom=true`, { headers });
    if (!response.ok) throw await problemOf(response);
    const [, last, total] = /-(\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
    saveFile(`${table}.${format}`, await response.blob());
    // The file ends after 5,000 rows, which nobody would notice.
    if (last !== undefined && total !== undefined && Number(last) + 1 < Number(total)) {
      toast(t('exportPart', { rows: formatNumber(Number(last) + 1), total: formatNumber(Number(total)) }), { tone: 'bad', detail: t('exportPartDetail') });
    }
  } catch (error) {
    toastProblem(error);
  }
}

export function exportItems(project: Pick<Schemas['Project'], 'id'>, table: string): MenuItems {
  return [
    { label: t('exportCsv'), onSelect: () => void download(project.id, table, 'csv') },
    { label: t('exportJson'), onSelect: () => void download(project.id, table, 'json') },
  ];
}
