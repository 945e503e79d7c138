import * as z from 'zod';
import { app, equal, rejects } from './checks.js';

const User = z.object({
  name: z.string().min(2), email: z.email(), age: z.number().int().positive().optional(),
  roles: z.array(z.enum(['admin', 'member'])).default(['member']),
});

export default app({
  parse: () => {
    equal(User.parse({ name: 'Ana', email: 'ana@example.test', extra: 1 }), { name: 'Ana', email: 'ana@example.test', roles: ['member'] });
    equal(z.strictObject({ a: z.literal(1) }).safeParse({ a: 1, b: 2 }).error.issues[0].code, 'unrecognized_keys');
  },
  safeParse: () => {
    const { success, error } = User.safeParse({ name: 'A', email: 'no', age: -1, roles: ['owner'] });
    equal([success, error.issues.map(({ path, code }) => [path.join('.'), code])],
      [false, [['name', 'too_small'], ['email', 'invalid_format'], ['age', 'too_small'], ['roles.0', 'invalid_value']]]);
    equal(z.flattenError(error).fieldErrors.name.length, 1);
    equal(z.prettifyError(error).split('\n').length > 3, true);
  },
  'an error that is thrown': () => {
    try {
      z.string().parse(7);
    } catch (error) {
      equal([error instanceof z.ZodError, error instanceof Error, error.issues[0].message], [true, true, 'Invalid input: expected string, received number']);
      return;
    }
    throw new Error('nothing was thrown');
  },
  refinements: async () => {
    const password = z.object({ one: z.string(), two: z.string() }).refine(({ one, two }) => one === two, { path: ['two'], message: 'differs' });
    equal(password.safeParse({ one: 'a', two: 'b' }).error.issues[0], { code: 'custom', path: ['two'], message: 'differs' });
    const free = z.string().refine(async (name) => name !== 'taken');
    equal([await free.parseAsync('free'), (await free.safeParseAsync('taken')).success], ['free', false]);
    await rejects(free.parseAsync('taken'), 'ZodError');
    const checked = z.number().superRefine((value, context) => { if (value % 2) context.addIssue({ code: 'custom', message: 'odd' }); });
    equal(checked.safeParse(3).error.issues[0].message, 'odd');
  },
  unions: () => {
    const Event = z.discriminatedUnion('type', [
      z.object({ type: z.literal('paid'), amount: z.number() }), z.object({ type: z.literal('left'), why: z.string().nullable() }),
    ]);
    equal([Event.parse({ type: 'paid', amount: 5 }).amount, Event.safeParse({ type: 'none' }).success], [5, false]);
    equal(z.union([z.string(), z.number()]).parse(3), 3);
    equal(z.intersection(z.object({ a: z.number() }), z.object({ b: z.string() })).parse({ a: 1, b: 'x' }), { a: 1, b: 'x' });
  },
  'changes of values': () => {
    equal(z.coerce.number().parse('42'), 42);
    equal(z.string().trim().toLowerCase().transform((text) => text.length).pipe(z.number().max(5)).parse('  ABC '), 3);
    equal(z.coerce.date().parse('2026-03-05').getTime(), 1772668800000);
    equal(z.preprocess((value) => value ?? 'none', z.string()).parse(null), 'none');
    equal([z.stringbool().parse('yes'), z.string().catch('x').parse(7)], [true, 'x']);
  },
  formats: () => {
    equal([z.uuid(), z.url(), z.ipv4(), z.iso.datetime(), z.iso.date(), z.base64(), z.jwt(), z.cidrv4()].map((kind, at) =>
      kind.safeParse(['7f3b7a43-1f0b-4c3f-9f6e-2a3e5d8c9b10', 'https://a.example/x', '10.0.0.1', '2026-03-05T04:07:00Z', '2026-03-05', 'aGk=',
        'no.jwt', '10.0.0.0/8'][at]).success), [true, true, true, true, true, true, false, true]);
    equal([z.email().safeParse('x@').success, z.iso.date().safeParse('2026-02-30').success, z.url().safeParse('nope').success], [false, false, false]);
  },
  containers: () => {
    equal([...z.map(z.string(), z.number()).parse(new Map([['a', 1]]))], [['a', 1]]);
    equal([...z.set(z.number()).parse(new Set([1, 2]))], [1, 2]);
    equal(z.tuple([z.string(), z.number()]).rest(z.boolean()).parse(['a', 1, true]), ['a', 1, true]);
    equal(z.record(z.string(), z.bigint()).parse({ a: 1n }).a === 1n, true);
    equal(z.instanceof(URL).parse(new URL('https://a.example')).host, 'a.example');
    equal(z.file().safeParse(new File(['x'], 'x.txt')).success, true);
  },
  recursion: () => {
    const Node = z.object({ name: z.string(), get children() { return z.array(Node); } });
    equal(Node.parse({ name: 'a', children: [{ name: 'b', children: [] }] }).children[0].name, 'b');
    equal(Node.safeParse({ name: 'a', children: [{ name: 1, children: [] }] }).error.issues[0].path, ['children', 0, 'name']);
  },
  'changes of schemas': () => {
    equal(Object.keys(User.pick({ name: true }).shape), ['name']);
    equal(User.partial().parse({ roles: ['admin'] }), { roles: ['admin'] });
    equal(User.omit({ email: true }).extend({ id: z.string() }).parse({ name: 'Ana', id: '1' }).id, '1');
    equal(z.string().brand('Id').parse('x'), 'x');
  },
  'JSON Schema': () => {
    const schema = z.toJSONSchema(User);
    equal([schema.type, schema.properties.email.format, schema.properties.roles.items.enum, schema.required],
      ['object', 'email', ['admin', 'member'], ['name', 'email', 'roles']]);
    equal(z.toJSONSchema(z.union([z.object({ a: z.number() }), z.null()])).anyOf[1], { type: 'null' });
  },
});
