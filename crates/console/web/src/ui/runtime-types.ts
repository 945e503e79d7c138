// The types of the runtime as the editor of code knows them: names, signatures and comments, read from `qala.d.ts` without a compiler.
//
// The file has a fixed form, which a test checks: a declaration begins at the start of a line (in the namespace `Qala`, two columns
// later), and each member has a line of its own.

export interface Member {
  readonly name: string;
  /** The declaration as it is written, without the semicolon. */
  readonly signature: string;
  readonly comment: string;
  readonly isFunction: boolean;
  /** Name of the type that its members are looked up in; of a function none. */
  readonly type: string | null;
}

export interface RuntimeTypes {
  readonly globals: readonly Member[];
  /** Members by type: of classes, interfaces and objects. A static member is one of the class's own name with `static `. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
}

const DECLARATION = /^(?:declare )?(class|interface|const|function) (\w+)/;
const MEMBER = /^(static )?(?:readonly )?(\w+)(\??)(?:<[^(]*>)?([(:])/;
/** Parameters of handlers, by the names that everybody gives them. */
const PARAMETERS: Readonly<Record<string, string>> = { env: 'Env', ctx: 'Context', event: 'ScheduledEvent', request: 'Request' };

/** Returns the name of the type in an annotation such as `Readonly<Record<string, Project>>`: what each of its members is, marked with `*`. */
function typeName(annotation: string): string | null {
  const record = /Record<string, (?:Qala\.)?(\w+)/.exec(annotation);
  if (record) return `*${record[1]}`;
  return /^(?:Qala\.)?([A-Z]\w*)/.exec(annotation)?.[1] ?? null;
}

export function parseRuntimeTypes(text: string): RuntimeTypes {
  const globals: Member[] = [];
  const members = new Map<string, Member[]>();
  const add = (owner: string, member: Member) => members.set(owner, [...(members.get(owner) ?? []), member]);
  const bases: [name: string, base: string][] = [];
  let path: string[] = [];
  let comment = '';
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const said = /^\/\*\* (.*) \*\/$/.exec(trimmed);
    if (said) { comment = said[1] ?? ''; continue; }
    const isTop = !line.startsWith(' ');
    const declared = DECLARATION.exec(isTop ? line : /^ {2}(?=class|interface)/.test(line) ? trimmed : '');
    if (declared) {
      const [, kind, name] = declared as unknown as [string, string, string];
      const base = /extends (?:Qala\.)?(\w+)/.exec(line.replace(/<[^{]*?>/g, ''))?.[1];
      if (base) bases.push([name, base]);
      if (kind !== 'interface') globals.push({ name, signature: signatureOf(line.replace(/^declare (const|class|function) /, '')), comment, isFunction: kind === 'function', type: kind === 'function' ? null : name });
      path = line.endsWith('{') ? [name] : [];
      const inline = /\{ (.*) \}/.exec(line)?.[1];
      if (kind === 'const' && inline) for (const part of inline.split('; ')) addMember(name, part);
    } else if (trimmed === '}' || trimmed === '};') {
      path.pop();
    } else if (path.length > 0) {
      addMember(path.join('.'), trimmed);
      if (trimmed.endsWith('{')) path.push(MEMBER.exec(trimmed)?.[2] ?? '');
    }
    comment = '';
  }
  for (const [name, base] of bases) {
    const own = new Set(members.get(name)?.map((member) => member.name));
    for (const member of members.get(base) ?? []) if (!own.has(member.name)) add(name, member);
  }
  return { globals, members };

  function addMember(owner: string, line: string): void {
    const found = MEMBER.exec(line);
    if (!found) return;
    const [, isStatic, name = '', , mark] = found;
    if (name === 'constructor') return;
    const isFunction = mark === '(';
    const annotation = line.slice(found[0].length).trim();
    const type = isFunction ? null : annotation === '{' ? `${owner}.${name}` : typeName(annotation);
    add(isStatic ? `static ${owner}` : owner, { name, signature: signatureOf(line), comment, isFunction, type });
  }
}

function signatureOf(line: string): string {
  return line.replace(/^(static |readonly )+/, '').replace(/(:? \{|;)$/, '');
}

/** Returns what can follow an expression such as `env.data.shop`, or the names that an expression can begin with for an empty one. */
export function membersOf({ globals, members }: RuntimeTypes, expression: readonly string[]): readonly Member[] {
  const [head, ...rest] = expression;
  if (head === undefined) return globals;
  const parameter = PARAMETERS[head];
  const global = globals.find(({ name }) => name === head);
  let type = parameter ?? global?.type ?? null;
  // A class by its name has only what is static.
  const isClass = parameter === undefined && global !== undefined && /^[A-Z]/.test(head);
  if (isClass) return rest.length === 0 ? members.get(`static ${head}`) ?? [] : [];
  for (const name of rest) {
    if (type === null) return [];
    if (type.startsWith('*')) type = type.slice(1);
    else type = members.get(type)?.find((member) => member.name === name)?.type ?? null;
  }
  return type === null || type.startsWith('*') ? [] : members.get(type) ?? [];
}
