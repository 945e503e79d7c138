// What is shown in place of a page that broke.

import { Component, type ComponentChildren } from 'preact';
import { Button } from '#ui/button';
import { Empty } from '#ui/feedback';
import { t } from './messages';

export class Boundary extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    console.error(error);
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Empty title={t('brokeTitle')} action={<Button variant="primary" icon="refresh" onClick={() => location.reload()}>{t('reload')}</Button>}>
        <p>{t('brokeBody')}</p><p><code>{(this.state.error as Error).message}</code></p>
      </Empty>
    );
  }
}
