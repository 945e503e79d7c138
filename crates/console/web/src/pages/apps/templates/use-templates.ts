// The templates that the server has, in the person's language.

import type { Schemas } from '#api/types';
import { useTranslated } from '#api/translated';

export type Template = Schemas['Template'];

export function useTemplates() {
  const { data, error, refresh } = useTranslated<Schemas['TemplateList']>('/v1/templates');
  return { data: data?.items, error, refresh };
}
