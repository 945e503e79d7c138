// The fields of a connection that is described by hand.

import { Checkbox, Select, TextArea, TextField } from '#ui';
import { AUTH_TYPES, METHODS, type HttpDraft } from './http-draft';
import { t } from './messages';
import { SecretField, type ErrorOf } from './parts';

interface Props {
  readonly draft: HttpDraft;
  readonly onChange: (part: Partial<HttpDraft>) => void;
  readonly errorOf: ErrorOf;
  readonly isStored: boolean;
}

/** Text of a program: no corrections, no suggestions. */
const VERBATIM = { autocomplete: 'off', spellcheck: false } as const;

export function HttpFields(props: Props) {
  const { draft, onChange, errorOf, isStored } = props;
  const toggle = (method: HttpDraft['methods'][number], isOn: boolean) => onChange({ methods: METHODS.filter((one) => (one === method ? isOn : draft.methods.includes(one))) });
  return (
    <>
      <TextField label={t('displayName')} value={draft.displayName} onInput={(displayName) => onChange({ displayName })} error={errorOf('displayName')} maxlength={60} autocomplete="off" autofocus />
      <TextField label={t('baseUrl')} hint={isStored ? t('baseUrlAgain') : t('baseUrlHint')} placeholder="https://api.example.com/v1" type="url" value={draft.baseUrl} onInput={(baseUrl) => onChange({ baseUrl })} error={errorOf('baseUrl')} maxlength={700} {...VERBATIM} />
      <Select label={t('auth')} value={draft.type} onChange={(type) => onChange({ type })} error={errorOf('auth')} options={AUTH_TYPES.map((value) => ({ value, label: t(`auth_${value}`) }))} />
      <AuthFields {...props} />
      {draft.type !== 'none' && <SecretField value={draft.secret} onInput={(secret) => onChange({ secret })} error={errorOf('secret')} hint={t.find(`secretOf_${draft.type}`)} isStored={isStored} />}
      <fieldset class="connections-methods">
        <legend>{t('methods')}</legend>
        {METHODS.map((method) => <Checkbox key={method} label={method} checked={draft.methods.includes(method)} onChange={(isOn) => toggle(method, isOn)} />)}
        {errorOf('methods') && <p class="field-error" role="alert">{errorOf('methods')}</p>}
      </fieldset>
      <TextField label={t('pathPrefix')} hint={t('pathPrefixHint')} placeholder="/orders" value={draft.pathPrefix} onInput={(pathPrefix) => onChange({ pathPrefix })} error={errorOf('pathPrefix')} maxlength={512} {...VERBATIM} />
      <TextField label={t('testPath')} hint={t('testPathHint')} placeholder="/orders?limit=1" value={draft.testPath} onInput={(testPath) => onChange({ testPath })} error={errorOf('testPath')} maxlength={512} {...VERBATIM} />
      <TextArea label={t('headers')} hint={t('headersHint')} placeholder="Accept-Version: 2" value={draft.headers} onInput={(headers) => onChange({ headers })} error={errorOf('headers')} rows={2} spellcheck={false} />
    </>
  );
}

/** What the chosen kind of authentication needs beside the secret. */
function AuthFields({ draft, onChange, errorOf }: Props) {
  const tokenUrl = <TextField label={t('tokenUrl')} placeholder="https://auth.example.com/token" type="url" value={draft.tokenUrl} onInput={(value) => onChange({ tokenUrl: value })} error={errorOf('auth.tokenUrl')} {...VERBATIM} />;
  const scopes = <TextField label={t('scopes')} hint={t('scopesHint')} value={draft.scopes} onInput={(value) => onChange({ scopes: value })} error={errorOf('auth.scopes')} {...VERBATIM} />;
  const prefix = (hint: string) => <TextField label={t('prefix')} hint={hint} value={draft.prefix} onInput={(value) => onChange({ prefix: value })} error={errorOf('auth.prefix')} maxlength={64} {...VERBATIM} />;
  switch (draft.type) {
    case 'bearer': return <div class="connections-set">{prefix(t('prefixBearer'))}</div>;
    case 'basic': return <div class="connections-set"><TextField label={t('username')} hint={t('usernameHint', { secret: '{secret}' })} value={draft.username} onInput={(username) => onChange({ username })} error={errorOf('auth.username')} maxlength={256} {...VERBATIM} /></div>;
    case 'api_key': return (
      <div class="connections-set">
        <Select label={t('place')} value={draft.place} onChange={(place) => onChange({ place })} options={[{ value: 'header', label: t('place_header') }, { value: 'query', label: t('place_query') }]} />
        <TextField label={t('keyName')} placeholder={draft.place === 'header' ? 'X-Api-Key' : 'key'} value={draft.keyName} onInput={(keyName) => onChange({ keyName })} error={errorOf('auth.name')} maxlength={64} {...VERBATIM} />
        {prefix(t('prefixKey'))}
      </div>
    );
    case 'headers': return <div class="connections-set"><TextField label={t('names')} hint={t('namesHint')} placeholder="X-Key, X-Token" value={draft.names} onInput={(names) => onChange({ names })} error={errorOf('auth.names')} {...VERBATIM} /></div>;
    case 'oauth2_client_credentials': return (
      <div class="connections-set">
        {tokenUrl}
        <TextField label={t('clientId')} value={draft.clientId} onInput={(clientId) => onChange({ clientId })} error={errorOf('auth.clientId')} maxlength={256} {...VERBATIM} />
        {scopes}
        <Select label={t('style')} value={draft.style} onChange={(style) => onChange({ style })} options={[{ value: 'basic', label: t('style_basic') }, { value: 'body', label: t('style_body') }]} />
      </div>
    );
    case 'service_account': return (
      <div class="connections-set">
        {tokenUrl}
        {scopes}
        <TextField label={t('audience')} hint={t('audienceHint')} value={draft.audience} onInput={(audience) => onChange({ audience })} error={errorOf('auth.audience')} maxlength={512} {...VERBATIM} />
        <TextField label={t('subject')} hint={t('subjectHint')} value={draft.subject} onInput={(subject) => onChange({ subject })} error={errorOf('auth.subject')} maxlength={512} {...VERBATIM} />
      </div>
    );
    default: return null;
  }
}
