// A command line that asks to act for the person. Opening the page decides nothing; the buttons do.

import { useEffect } from 'preact/hooks';
import { query, session, setQuery, signInPath, useTitle } from '#frame';
import { CodeForm } from './code-form';
import { t } from './messages';
import { Request } from './request';

export default function Device() {
  useTitle(t('title'));
  const isVisitor = session.value === null;
  useEffect(() => { if (isVisitor) location.replace(signInPath()); }, [isVisitor]);
  if (isVisitor) return null;
  const code = query.value.get('user_code')?.trim();
  if (!code) return <CodeForm onCode={(entered) => setQuery({ user_code: entered }, { replace: false })} />;
  return <Request key={code} code={code} onOtherCode={() => setQuery({ user_code: null }, { replace: false })} />;
}
