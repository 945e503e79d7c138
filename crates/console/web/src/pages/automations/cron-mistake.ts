import { cronMistake } from './cron';
import { t } from './messages';

/** Says in words what is wrong with a cron expression; nothing, if the server has to decide. */
export function cronMistakeText(text: string): string {
  const mistake = cronMistake(text);
  if (mistake === null) return '';
  return mistake.field === null ? t('notCron') : t(`cron_${mistake.field}`, { from: mistake.from, to: mistake.to });
}
