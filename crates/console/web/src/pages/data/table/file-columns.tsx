// The columns of a file: their first values, and where each goes.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Table as FewRows } from '#ui';
import { t } from '../messages';
import { samplesOf, type Sheet } from './import-plan';

interface FileColumnsProps {
  readonly title: string;
  readonly sheet: Sheet;
  /** Whether the person has to see if the text reads right. */
  readonly isGuessed: boolean;
  /** Returns where a column goes. */
  readonly target: (index: number) => ComponentChildren;
}

export function FileColumns({ title, sheet: { headers, records }, isGuessed, target }: FileColumnsProps) {
  const samples = useMemo(() => headers.map((_, index) => samplesOf(records, index, isGuessed)), [headers, records, isGuessed]);
  return (
    <section class="data-mapping">
      <h3>{title}</h3>
      <FewRows label={t('mappingLabel')} head={[t('fileColumn'), t('sample'), t('tableColumn')]}>
        {headers.map((header, index) => (
          <tr key={index}>
            <td><b>{header === '' ? t('unnamed', { number: index + 1 }) : header}</b></td>
            <td class="data-sample"><code>{samples[index]?.map((cell) => cell ?? 'null').join(' · ')}</code></td>
            <td>{target(index)}</td>
          </tr>
        ))}
      </FewRows>
    </section>
  );
}
