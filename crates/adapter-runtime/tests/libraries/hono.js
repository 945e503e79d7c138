import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import { cors } from 'hono/cors';
import { etag } from 'hono/etag';
import { HTTPException } from 'hono/http-exception';
import { html } from 'hono/html';
import { jwt, sign } from 'hono/jwt';
import { secureHeaders } from 'hono/secure-headers';
import { stream, streamSSE, streamText } from 'hono/streaming';
import { validator } from 'hono/validator';

const app = new Hono();

app.use(async (c, next) => {
  await next();
  c.header('x-seen-by', 'middleware');
});
app.use('/api/*', cors({ origin: 'https://console.example' }));
app.use('/admin/*', basicAuth({ username: 'ana', password: 'only for this test' }));
app.use('/tagged', etag());
app.use('/jwt/*', jwt({ secret: 'only for this test', alg: 'HS256' }));
app.use('/safe', secureHeaders());
app.get('/', (c) => c.text('hello'));
app.get('/orders/:id{[0-9]+}/:part?', (c) => c.json({ ...c.req.param(), page: c.req.query('page'), tags: c.req.queries('tag') }));
app.post('/orders', async (c) => c.json({ got: await c.req.json() }, 201));
app.post('/form', async (c) => {
  const { name, file } = await c.req.parseBody();
  return c.json({ name, file: [file.name, file.type, await file.text()] });
});
app.post('/checked', validator('json', (value, c) => (typeof value.title === 'string' ? value : c.text('a title is needed', 400))),
  (c) => c.json(c.req.valid('json')));
app.get('/cookies', async (c) => {
  setCookie(c, 'plain', 'a b', { path: '/', httpOnly: true, secure: true, sameSite: 'Lax', maxAge: 60 });
  await setSignedCookie(c, 'signed', 'ana', 'only for this test');
  return c.json({ theme: getCookie(c, 'theme'), who: await getSignedCookie(c, 'only for this test', 'who') });
});
app.get('/sign', async (c) => {
  await setSignedCookie(c, 'who', 'ana', 'only for this test');
  return c.body(null, 204);
});
app.get('/api/list', (c) => c.json([1, 2]));
app.get('/admin/page', (c) => c.text('in'));
app.get('/tagged', (c) => c.text('the same'));
app.get('/token', async (c) => c.text(await sign({ sub: 'ana' }, 'only for this test', 'HS256')));
app.get('/jwt/me', (c) => c.json(c.get('jwtPayload')));
app.get('/safe', (c) => c.html(html`<p>${'<b>'}</p>`));
app.get('/sse', (c) => streamSSE(c, async (out) => {
  for (let id = 0; id < 3; id++) await out.writeSSE({ id: `${id}`, event: 'count', data: `${id * 2}` });
}));
app.get('/words', (c) => streamText(c, async (out) => {
  await out.writeln('one');
  await out.sleep(1);
  await out.write('two');
}));
app.get('/bytes', (c) => stream(c, async (out) => {
  await out.write(new Uint8Array([104, 105]));
}));
app.get('/elsewhere', (c) => c.redirect('/orders/1', 303));
app.get('/broken', () => { throw new Error('broken'); });
app.get('/teapot', () => { throw new HTTPException(418, { message: 'short and stout' }); });
app.get('/forward', async (c) => {
  const { url, method } = await (await fetch('https://other.example/x')).json();
  return c.json({ url, method });
});
app.get('/later', (c) => {
  c.executionCtx.waitUntil(Promise.resolve().then(() => console.log('done later')));
  return c.text(Object.keys(c.env.data).join());
});
const books = new Hono().basePath('/books');
books.get('/', (c) => c.text('all books')).get('/:title', (c) => c.text(c.req.param('title')));
app.route('/', books);
app.notFound((c) => c.json({ error: 'not found' }, 404));
app.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.json({ error: error.message }, 500)));

export default app;
