// The root: goes on to where the person works.

import { useEffect } from 'preact/hooks';
import { navigate, session, workspacePath, workspaces } from '#frame';
import { Skeleton } from '#ui';

export default function Home() {
  useEffect(() => {
    const last = session.value?.workspaceId ?? workspaces.value[0]?.id;
    const to = session.value === null ? '/sign-in' : last ? workspacePath(last) : '/welcome';
    void navigate(to, { replace: true });
  }, []);
  return <Skeleton lines={3} />;
}
