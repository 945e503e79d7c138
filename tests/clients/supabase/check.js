// supabase-js against a running Qala. Run by `tests/tests/suite/supabase_client.rs`, with the address of a project, a publishable
// and a secret key in the environment.

import assert from 'node:assert/strict'
import { createClient } from '@supabase/supabase-js'
import { Validator } from '@seriousme/openapi-schema-validator'

const { PROJECT_URL: url, PUBLISHABLE_KEY: publishable, SECRET_KEY: secret } = process.env
// Nothing here listens for changes, and an older Node has no WebSocket of its own.
const options = {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  realtime: { transport: class {} },
}
const server = createClient(url, secret, options)
const visitor = createClient(url, publishable, options)

const ok = async (query, status) => {
  const answer = await query
  assert.equal(answer.error, null, JSON.stringify(answer.error))
  if (status) assert.equal(answer.status, status)
  return answer.data
}

// The five things a table is for.
await ok(server.from('tasks').insert({ id: 'a', title: 'Alpha', qty: 1 }), 201)
const made = await ok(server.from('tasks').insert([{ id: 'b', title: 'Beta', qty: 2 }, { id: 'c', qty: 3 }]).select('id,qty'), 201)
assert.deepEqual(made, [{ id: 'b', qty: 2 }, { id: 'c', qty: 3 }])
assert.deepEqual(await ok(server.from('tasks').select('id').gt('qty', 1).order('qty', { ascending: false })), [{ id: 'c' }, { id: 'b' }])
const { qty } = await ok(server.from('tasks').update({ qty: 10 }).eq('id', 'a').select().single(), 200)
assert.equal(qty, 10)
const merged = await ok(server.from('tasks').upsert({ id: 'c', qty: 30 }).select('qty').single(), 200)
assert.equal(merged.qty, 30)
const counted = await server.from('tasks').select('*', { count: 'exact', head: true })
assert.equal(counted.count, 3)
assert.deepEqual(await ok(server.from('tasks').delete().eq('id', 'b').select('id')), [{ id: 'b' }])

// An order and a limit choose what is changed, and the answer has that order.
await ok(server.from('tasks').insert([{ id: 'q1', qty: 101 }, { id: 'q2', qty: 103 }, { id: 'q3', qty: 102 }]), 201)
assert.deepEqual(await ok(server.from('tasks').update({ meta: { seen: true } }).gt('qty', 100).select('id').order('qty', { ascending: false })), [{ id: 'q2' }, { id: 'q3' }, { id: 'q1' }])
assert.deepEqual(await ok(server.from('tasks').update({ qty: 200 }).gt('qty', 100).order('qty').limit(2).select('id')), [{ id: 'q1' }, { id: 'q3' }])
const unordered = await server.from('tasks').delete().gt('qty', 100).limit(1)
assert.equal(unordered.error.code, 'PGRST109')
assert.deepEqual(await ok(server.from('tasks').delete().gt('qty', 100).order('id').limit(1).select('id')), [{ id: 'q1' }])
assert.equal((await ok(server.from('tasks').delete().gt('qty', 100).select('id'))).length, 2)

// A column with a default, and one whose value says which row is meant.
const people = [{ email: 'ann@x', name: 'Ann' }, { email: 'bob@x', name: 'Bob' }]
assert.deepEqual(await ok(server.from('people').insert(people).select('email,level'), 201), [{ email: 'ann@x', level: 1 }, { email: 'bob@x', level: 1 }])
const taken = await server.from('people').insert({ email: 'ann@x' })
assert.equal(taken.status, 409)
assert.equal(taken.error.code, '23505')
const upserted = await ok(server.from('people').upsert([{ email: 'cid@x', name: 'Cid' }, { email: 'ann@x', name: 'Anna' }], { onConflict: 'email' }).select('email,name'), 201)
assert.deepEqual(upserted, [{ email: 'cid@x', name: 'Cid' }, { email: 'ann@x', name: 'Anna' }])
const ordered = [{ email: 'o1@x', name: 'Bea' }, { email: 'o2@x', name: 'Abe' }]
assert.deepEqual(await ok(server.from('people').insert(ordered).select('name').order('name'), 201), [{ name: 'Abe' }, { name: 'Bea' }])
assert.deepEqual(await ok(server.from('people').upsert(ordered, { onConflict: 'email' }).select('email').order('email', { ascending: false }), 200), [{ email: 'o2@x' }, { email: 'o1@x' }])
const both = await ok(server.from('people').upsert([{ name: 'Abe', level: 5 }, { name: 'Cleo', level: 1 }], { onConflict: 'name,level' }).select('name,level'), 201)
assert.deepEqual(both, [{ name: 'Abe', level: 5 }, { name: 'Cleo', level: 1 }])
await ok(server.from('people').upsert(both, { onConflict: 'level,name' }), 200)
const ignored = await ok(server.from('people').upsert({ email: 'ann@x', name: 'No' }, { onConflict: 'email', ignoreDuplicates: true }).select('name'))
assert.deepEqual(ignored, [])
const nulls = await ok(server.from('people').insert([{ email: 'd@x', level: 2 }, { email: 'e@x' }]).select('email,level'))
assert.deepEqual(nulls, [{ email: 'd@x', level: 2 }, { email: 'e@x', level: null }])
const defaults = await ok(server.from('people').insert([{ email: 'f@x', level: 2 }, { email: 'g@x' }], { defaultToNull: false }).select('email,level'))
assert.deepEqual(defaults, [{ email: 'f@x', level: 2 }, { email: 'g@x', level: 1 }])
const wrong = await server.from('people').upsert({ email: 'ann@x', name: 'x' }, { onConflict: 'name' })
assert.equal(wrong.error.code, '42P10')
const put = await fetch(`${url}/rest/v1/people?id=eq.fixed`, { method: 'PUT', headers: { apikey: secret, 'content-type': 'application/json' }, body: '{"email":"put@x"}' })
assert.equal(put.status, 201)
assert.deepEqual((await put.json()).map(row => [row.id, row.level]), [['fixed', 1]])
const back = await ok(server.from('people').select('*', { count: 'exact', head: true }))
assert.equal(back, null)
for (const count of ['planned', 'estimated']) {
  const about = await server.from('people').select('email', { count }).limit(2)
  assert.ok(about.error === null && about.count >= 2, JSON.stringify(about))
}
// A function that is not there: its refusal can be read.
const rpc = await server.rpc('nothing')
assert.equal(rpc.status, 404)
assert.ok(rpc.error.message)

// Rules hold here as they do elsewhere.
assert.deepEqual(await ok(visitor.from('tasks').select('id,title').order('id')), [{ id: 'a', title: 'Alpha' }, { id: 'c', title: null }])
const refused = await visitor.from('tasks').insert({ id: 'x' })
assert.equal(refused.status, 403)
assert.equal(refused.error.code, '42501')
const hidden = await visitor.from('tasks').select('qty')
assert.equal(hidden.error.code, '42703')
const absent = await server.from('nope').select()
assert.equal(absent.error.code, 'PGRST205')

// Each key is told what it may use, and no more.
const described = async (key, tag) => {
  const headers = tag ? { apikey: key, 'if-none-match': tag } : { apikey: key }
  const answer = await fetch(`${url}/rest/_openapi.json`, { headers })
  const document = answer.status === 200 ? await answer.json() : null
  return { status: answer.status, tag: answer.headers.get('etag'), document }
}
const whole = await described(secret)
const narrow = await described(publishable)
for (const { document } of [whole, narrow]) {
  const checked = await new Validator().validate(structuredClone(document))
  assert.ok(checked.valid, JSON.stringify(checked.errors))
  assert.equal(document.openapi, '3.1.0')
}
assert.deepEqual(Object.keys(narrow.document.paths['/rest/tasks']), ['get'])
assert.deepEqual(Object.keys(whole.document.paths['/rest/tasks']).sort(), ['delete', 'get', 'patch', 'post', 'put'])
assert.equal((await described(secret, whole.tag)).status, 304)
assert.equal((await described(publishable, whole.tag)).status, 200)

console.log('every check passed')
