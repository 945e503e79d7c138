// Whose tokens identify the signed-in people of a project.

import { useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { JsonEditor, Notice, Switch, TextField, confirm, parseJson } from '#ui';
import { t } from '../messages';
import { adminRefusal, type Project } from './frame';
import { keysOf } from './jwks';
import { SettingsForm, changeSettings } from './settings';

interface Draft {
  readonly issuer: string;
  readonly audience: string;
  readonly roleClaim: string;
  readonly keys: string;
}

const EMPTY: Draft = { issuer: '', audience: '', roleClaim: 'role', keys: '{\n  "keys": []\n}' };

function draftOf(identity: Schemas['IdentityProvider']): Draft {
  const { issuer, audience, roleClaim, keys } = identity;
  return { issuer, audience, roleClaim, keys: JSON.stringify({ keys: keys.map((key) => Object.fromEntries(Object.entries(key).filter(([, value]) => value != null))) }, null, 2) };
}

export function Identity({ project }: { project: Project }) {
  const now = project.settings.identity;
  const [draft, setDraft] = useState<Draft | 'none' | null>(null);
  const isReadOnly = adminRefusal(project) !== null;
  const shown = draft === 'none' ? null : (draft ?? (now ? draftOf(now) : null));
  const parsed = shown && parseJson(shown.keys);
  const keys = parsed && 'value' in parsed ? keysOf(parsed.value) : null;
  const invalid = shown === null ? null : shown.issuer === '' || shown.audience === '' ? t('issuerFirst') : keys === null ? t('jwksWrong') : keys.length === 0 ? t('jwksEmpty') : null;
  const isDirty = shown === null ? now !== null : now === null || JSON.stringify(draftOf(now)) !== JSON.stringify(shown);
  const body = shown === null ? { identity: null } : { identity: { issuer: shown.issuer.trim(), audience: shown.audience.trim(), roleClaim: shown.roleClaim.trim() || 'role', keys: (keys ?? []) as Schemas['JsonWebKey'][] } };
  const save = async () => {
    if (shown === null) {
      if (!(await confirm({ title: t('identityOffTitle'), body: t('identityOffBody'), action: t('identityOff'), tone: 'bad' }))) return;
    }
    await changeSettings(project, body);
    setDraft(null);
  };
  const set = (change: Partial<Draft>) => setDraft({ ...(shown ?? EMPTY), ...change });
  return (
    <SettingsForm title={t('identity')} project={project} isDirty={isDirty} invalid={invalid} saved={{ identity: now }} body={body} reset={() => setDraft(null)} save={save}>
      <Switch label={t('identityOn')} hint={t('identityLead')} checked={shown !== null} disabled={isReadOnly} onChange={(isOn) => setDraft(isOn ? (now ? draftOf(now) : EMPTY) : 'none')} />
      {shown !== null && (
        <>
          <TextField label={t('issuer')} hint={t('issuerHint')} value={shown.issuer} onInput={(issuer) => set({ issuer })} maxlength={200} placeholder="https://accounts.example.com" readonly={isReadOnly} spellcheck={false} />
          <TextField label={t('audience')} hint={t('audienceHint')} value={shown.audience} onInput={(audience) => set({ audience })} maxlength={200} readonly={isReadOnly} spellcheck={false} />
          <TextField label={t('roleClaim')} hint={t('roleClaimHint')} value={shown.roleClaim} onInput={(roleClaim) => set({ roleClaim })} maxlength={200} readonly={isReadOnly} spellcheck={false} />
          <div class="field">
            <span class="data-field-label">{t('jwks')}</span>
            <p class="field-hint">{t('jwksHint')}</p>
            <JsonEditor label={t('jwks')} value={shown.keys} height="short" onChange={isReadOnly ? undefined : (text) => set({ keys: text })} />
          </div>
          {keys?.some((key) => key.kty === 'oct') && <Notice tone="warn">{t('symmetricNote')}</Notice>}
        </>
      )}
    </SettingsForm>
  );
}
