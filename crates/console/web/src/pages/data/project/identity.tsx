// Whose tokens identify the signed-in people of a project.

import { useState } from 'preact/hooks';
import type { CallOptions } from '#api/client';
import type { Schemas } from '#api/types';
import { Checkbox, JsonEditor, Notice, Switch, TextArea, TextField, confirm, parseJson } from '#ui';
import { t } from '../messages';
import { adminRefusal, type Project } from './frame';
import { MAX_KEYS, chosenKeys, claimLines, claimsOf, isForTokens, keysOf, nameOf, type PastedKey } from './jwks';
import { SettingsForm, changeSettings } from './settings';

interface Draft {
  readonly issuer: string;
  readonly audience: string;
  readonly roleClaim: string;
  readonly claims: string;
  readonly keys: string;
}

const EMPTY: Draft = { issuer: '', audience: '', roleClaim: 'role', claims: '', keys: '{\n  "keys": []\n}' };

function draftOf(identity: Schemas['IdentityProvider']): Draft {
  const { issuer, audience, roleClaim, claims, keys } = identity;
  return { issuer, audience, roleClaim, claims: claimLines(claims), keys: JSON.stringify({ keys: keys.map((key) => Object.fromEntries(Object.entries(key).filter(([, value]) => value != null))) }, null, 2) };
}

/** A symmetric key is a secret, which the browser does not keep. */
function withoutSymmetric(draft: Draft | 'none' | null): Draft | 'none' | null {
  if (draft === null || draft === 'none' || !draft.keys.includes('oct')) return draft;
  return { ...draft, keys: EMPTY.keys };
}

export function Identity({ project }: { project: Project }) {
  const now = project.settings.identity;
  const [draft, setDraft] = useState<Draft | 'none' | null>(null);
  const isReadOnly = adminRefusal(project) !== null;
  const shown = draft === 'none' ? null : (draft ?? (now ? draftOf(now) : null));
  const parsed = shown && parseJson(shown.keys);
  const keys = parsed && 'value' in parsed ? keysOf(parsed.value) : null;
  const claims = shown === null ? {} : claimsOf(shown.claims);
  // The choice belongs to the text: other keys have another.
  const [choice, setChoice] = useState<{ readonly keys: string; readonly chosen: ReadonlySet<number> }>({ keys: '', chosen: new Set() });
  const chosen = choice.keys === shown?.keys ? choice.chosen : new Set<number>();
  const sent = chosenKeys(keys ?? [], chosen);
  const mustChoose = keys !== null && keys.filter(isForTokens).length > MAX_KEYS;
  const invalid = shown === null ? null : shown.issuer === '' || shown.audience === '' ? t('issuerFirst') : keys === null ? t('jwksWrong') : keys.length === 0 ? t('jwksEmpty') : claims === null ? t('claimsWrong') : mustChoose && (sent.length === 0 || sent.length > MAX_KEYS) ? t('jwksChoose', { count: MAX_KEYS }) : null;
  const isDirty = shown === null ? now !== null : now === null || JSON.stringify(draftOf(now)) !== JSON.stringify(shown);
  const body = shown === null ? { identity: null } : { identity: { issuer: shown.issuer.trim(), audience: shown.audience.trim(), roleClaim: shown.roleClaim.trim() || 'role', claims: claims ?? {}, keys: sent as Schemas['NewIdentityProvider']['keys'] } };
  const [ignored, setIgnored] = useState<readonly Schemas['IgnoredKey'][]>([]);
  const save = async (options: CallOptions) => {
    if (shown === null) {
      if (!(await confirm({ title: t('identityOffTitle'), body: t('identityOffBody'), action: t('identityOff'), tone: 'bad' }))) return false;
    }
    setIgnored((await changeSettings(project, body, options)).ignoredKeys ?? []);
    return true;
  };
  const set = (change: Partial<Draft>) => setDraft({ ...(shown ?? EMPTY), ...change });
  return (
    <SettingsForm title={t('identity')} form="identity" draft={withoutSymmetric(draft)} onDraft={setDraft} empty={null} project={project} isDirty={isDirty} invalid={invalid} saved={{ identity: now }} body={body} save={save}>
      <Switch label={t('identityOn')} hint={t('identityLead')} checked={shown !== null} disabled={isReadOnly} onChange={(isOn) => setDraft(isOn ? (now ? draftOf(now) : EMPTY) : 'none')} />
      {shown !== null && (
        <>
          <TextField label={t('issuer')} hint={t('issuerHint')} value={shown.issuer} onInput={(issuer) => set({ issuer })} maxlength={200} placeholder="https://accounts.example.com" readonly={isReadOnly} spellcheck={false} />
          <TextField label={t('audience')} hint={t('audienceHint')} value={shown.audience} onInput={(audience) => set({ audience })} maxlength={200} readonly={isReadOnly} spellcheck={false} />
          <TextField label={t('roleClaim')} hint={t('roleClaimHint')} value={shown.roleClaim} onInput={(roleClaim) => set({ roleClaim })} maxlength={200} readonly={isReadOnly} spellcheck={false} />
          <TextArea label={t('claims')} hint={t('claimsHint')} value={shown.claims} onInput={(claims) => set({ claims })} error={claims === null ? t('claimsWrong') : null} rows={3} spellcheck={false} readonly={isReadOnly} />
          <div class="field">
            <span class="data-field-label">{t('jwks')}</span>
            <p class="field-hint">{t('jwksHint')}</p>
            <JsonEditor label={t('jwks')} value={shown.keys} height="short" onChange={isReadOnly ? undefined : (text) => set({ keys: text })} />
          </div>
          {mustChoose && <KeyChoice keys={keys} chosen={chosen} onChosen={(next) => setChoice({ keys: shown.keys, chosen: next })} />}
          {ignored.length > 0 && <Notice><p>{t('jwksIgnored')}</p><ul>{ignored.map(({ kid, reason }, index) => <li key={index}><code>{kid ?? '–'}</code> {t(`ignored_${reason}`)}</li>)}</ul></Notice>}
          {keys?.some((key) => key.kty === 'oct') && <Notice tone="warn">{t('symmetricNote')}</Notice>}
        </>
      )}
    </SettingsForm>
  );
}

/** Of a set with more keys than a project takes, the ones that are sent. */
function KeyChoice({ keys, chosen, onChosen }: { keys: readonly PastedKey[]; chosen: ReadonlySet<number>; onChosen: (chosen: ReadonlySet<number>) => void }) {
  const toggle = (index: number, isChosen: boolean) => onChosen(new Set([...chosen].filter((one) => one !== index).concat(isChosen ? [index] : [])));
  return (
    <fieldset class="field">
      <legend class="data-field-label">{t('jwksChoose', { count: MAX_KEYS })}</legend>
      {keys.map((key, index) => isForTokens(key) && <Checkbox key={index} label={nameOf(key)} checked={chosen.has(index)} onChange={(isChosen) => toggle(index, isChosen)} />)}
    </fieldset>
  );
}
