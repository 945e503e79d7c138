// The fields of a connection to a service of the catalogue.

import { Select, TextField } from '#ui';
import type { Connector } from './catalogue';
import { t } from './messages';
import { SecretField, type ErrorOf } from './parts';

export interface CatalogueDraft {
  readonly displayName: string;
  readonly values: Readonly<Record<string, string>>;
  readonly secret: string;
}

export function catalogueDraft(connector: Connector | undefined, displayName: string, values: Readonly<Record<string, string>>): CatalogueDraft {
  const choices = (connector?.fields ?? []).filter(({ form }) => form === 'choice').map(({ name, default: standard, options }) => [name, standard ?? options?.[0] ?? '']);
  return { displayName, values: { ...Object.fromEntries(choices), ...values }, secret: '' };
}

/** Returns the values that were filled in: for the others the server has defaults, or says that they are required. */
export function filledValues({ values }: CatalogueDraft): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])));
}

export function catalogueFields(connector: Connector | undefined): string[] {
  return ['displayName', 'secret', ...(connector?.fields ?? []).map(({ name }) => `values.${name}`)];
}

interface Props {
  readonly connector: Connector | undefined;
  readonly draft: CatalogueDraft;
  readonly onChange: (part: Partial<CatalogueDraft>) => void;
  readonly errorOf: ErrorOf;
  readonly isStored: boolean;
  /** Whether a permission in the browser takes the place of a secret. */
  readonly isAuthorized?: boolean;
}

export function CatalogueFields({ connector, draft, onChange, errorOf, isStored, isAuthorized = false }: Props) {
  const set = (name: string) => (value: string) => onChange({ values: { ...draft.values, [name]: value } });
  return (
    <>
      <TextField label={t('displayName')} value={draft.displayName} onInput={(displayName) => onChange({ displayName })} error={errorOf('displayName')} maxlength={60} autocomplete="off" autofocus />
      {connector?.fields.map(({ name, label, form, example, options, default: standard }) => {
        const shared = { label, error: errorOf(`values.${name}`), value: draft.values[name] ?? '' };
        if (form === 'choice') return <Select key={name} {...shared} options={(options ?? []).map((value) => ({ value, label: value }))} onChange={set(name)} />;
        return <TextField key={name} {...shared} placeholder={example} hint={standard ? t('fieldDefault', { value: standard }) : undefined} onInput={set(name)} autocomplete="off" spellcheck={false} inputmode={form === 'digits' ? 'numeric' : form === 'email' ? 'email' : 'text'} />;
      })}
      {isAuthorized && <p class="field-hint">{t('authorizeHint', { name: connector?.name ?? '' })}</p>}
      {!isAuthorized && connector?.auth !== 'none' && <SecretField value={draft.secret} onInput={(secret) => onChange({ secret })} error={errorOf('secret')} hint={connector && t.find(`secret_${connector.auth}`)} isStored={isStored} />}
    </>
  );
}
