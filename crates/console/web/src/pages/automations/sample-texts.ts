// Programs that call a webhook as it is set up. The secret comes from the environment, so that none is pasted into code.

import type { Schemas } from '#api/types';
import type { Language } from '#ui/code-setup';

export interface Sample {
  readonly id: 'curl' | 'node' | 'python' | 'github' | 'telegram' | 'html';
  readonly language: Language;
  readonly text: string;
}

type Mode = Schemas['ProofMode'];
type Webhook = Pick<Schemas['Webhook'], 'address' | 'mode' | 'form'>;

interface Proof {
  readonly shell: string;
  readonly header: string;
  readonly node: string;
  readonly nodeHeader: string;
  readonly python: string;
  readonly pythonHeader: string;
}

/** Lines that make the proof, and the header that carries it. */
const PROOFS: Readonly<Record<Mode, Proof | null>> = {
  signed: {
    shell: `T=$(date +%s)\nV1=$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$QALA_SECRET" | sed 's/.* //')\n`,
    header: '-H "Service-Signature: t=$T,v1=$V1" ',
    node: "const t = Math.floor(Date.now() / 1000);\nconst v1 = createHmac('sha256', process.env.QALA_SECRET).update(`${t}.${body}`).digest('hex');\n",
    nodeHeader: "'service-signature': `t=${t},v1=${v1}`",
    python: 't = str(int(time.time()))\nv1 = hmac.new(os.environ["QALA_SECRET"].encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()\n',
    pythonHeader: '"Service-Signature": f"t={t},v1={v1}"',
  },
  code_host: {
    shell: `SIGNATURE=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$QALA_SECRET" | sed 's/.* //')\n`,
    header: '-H "X-Hub-Signature-256: sha256=$SIGNATURE" ',
    node: "const signature = createHmac('sha256', process.env.QALA_SECRET).update(body).digest('hex');\n",
    nodeHeader: "'x-hub-signature-256': `sha256=${signature}`",
    python: 'signature = hmac.new(os.environ["QALA_SECRET"].encode(), body, hashlib.sha256).hexdigest()\n',
    pythonHeader: '"X-Hub-Signature-256": f"sha256={signature}"',
  },
  token: { shell: '', header: '-H "X-Service-Token: $QALA_SECRET" ', node: '', nodeHeader: "'x-service-token': process.env.QALA_SECRET", python: '', pythonHeader: '"X-Service-Token": os.environ["QALA_SECRET"]' },
  messenger: {
    shell: '', header: '-H "X-Telegram-Bot-Api-Secret-Token: $QALA_SECRET" ', node: '', nodeHeader: "'x-telegram-bot-api-secret-token': process.env.QALA_SECRET", python: '', pythonHeader: '"X-Telegram-Bot-Api-Secret-Token": os.environ["QALA_SECRET"]',
  },
  none: null,
  form: null,
};

function exportLine(mode: Mode): string {
  if (PROOFS[mode] === null) return '';
  return `export QALA_SECRET='${mode === 'token' || mode === 'messenger' ? 'qwt_…' : 'qws_…'}'\n`;
}

function curl({ address, mode }: Webhook, body: string): string {
  const proof = PROOFS[mode];
  return `${exportLine(mode)}BODY='${body}'\n${proof?.shell ?? ''}curl ${proof?.header ?? ''}-H 'Content-Type: application/json' -d "$BODY" '${address}'\n`;
}

function node({ address, mode }: Webhook, body: string): string {
  const proof = PROOFS[mode];
  const imports = proof?.node ? "import { createHmac } from 'node:crypto';\n\n" : '';
  const headers = ["'content-type': 'application/json'", ...(proof ? [proof.nodeHeader] : [])].join(', ');
  return `${imports}const body = JSON.stringify(${body});\n${proof?.node ?? ''}const response = await fetch('${address}', { method: 'POST', headers: { ${headers} }, body });\nconsole.log(response.status, await response.text());\n`;
}

function python({ address, mode }: Webhook, body: string): string {
  const proof = PROOFS[mode];
  const imports = ['json', 'urllib.request', ...(proof ? ['os'] : []), ...(proof?.python ? ['hashlib', 'hmac'] : []), ...(mode === 'signed' ? ['time'] : [])].sort();
  const headers = ['"Content-Type": "application/json"', ...(proof ? [proof.pythonHeader] : [])].join(', ');
  return `import ${imports.join(', ')}\n\nbody = json.dumps(${body}).encode()\n${proof?.python ?? ''}headers = {${headers}}\nresponse = urllib.request.urlopen(urllib.request.Request("${address}", body, headers))\nprint(response.status, response.read().decode())\n`;
}

function telegram({ address }: Webhook): string {
  return `export BOT_TOKEN='123456:…'\n${exportLine('messenger')}curl "https://api.telegram.org/bot$BOT_TOKEN/setWebhook" -d 'url=${address}' -d "secret_token=$QALA_SECRET"\n`;
}

function github({ address }: Webhook): string {
  return `export QALA_SECRET='qws_…'\ngh api repos/OWNER/REPOSITORY/hooks -f name=web -f 'events[]=push' \\\n  -f 'config[url]=${address}' -f 'config[content_type]=json' -f "config[secret]=$QALA_SECRET"\n`;
}

function html({ address, form }: Webhook): string {
  const hidden = form?.hiddenField ?? '_gotcha';
  return `<form action="${address}" method="post">\n  <label>Email <input name="email" type="email" required></label>\n  <label>Message <textarea name="message"></textarea></label>\n  <input name="${hidden}" hidden tabindex="-1" autocomplete="off">\n  <button>Send</button>\n</form>\n`;
}

/** Returns the samples for a webhook, the most fitting first. */
export function samplesOf(webhook: Webhook): readonly Sample[] {
  const body = webhook.mode === 'messenger' ? '{"update_id": 1, "message": {"text": "Hello"}}' : '{"title": "Hello"}';
  const programs: readonly Sample[] = [
    { id: 'curl', language: 'text', text: curl(webhook, body) },
    { id: 'node', language: 'javascript', text: node(webhook, body) },
    { id: 'python', language: 'text', text: python(webhook, body) },
  ];
  switch (webhook.mode) {
    case 'code_host': return [{ id: 'github', language: 'text', text: github(webhook) }, ...programs];
    case 'messenger': return [{ id: 'telegram', language: 'text', text: telegram(webhook) }, ...programs];
    case 'form': return [{ id: 'html', language: 'text', text: html(webhook) }, ...programs];
    case 'signed': case 'token': case 'none': return programs;
  }
}
