// The published client of PostgREST against a running Qala. Run by `tests/tests/suite/postgrest_client.rs`, with the address
// of the data API, a publishable and a secret key, and a person's token in the environment.

import assert from 'node:assert/strict'
import { PostgrestClient } from '@supabase/postgrest-js'

const { REST_URL: url, PUBLISHABLE_KEY: publishable, SECRET_KEY: secret, PERSON_TOKEN: token } = process.env
// As supabase-js sends them: the key twice while nobody is signed in, then the person's token beside it.
const as = (apikey, bearer = apikey) =>
  new PostgrestClient(url, { headers: { apikey, Authorization: `Bearer ${bearer}` } })
const server = as(secret)
const visitor = as(publishable)
const person = as(publishable, token)

const ok = async (query, status) => {
  const answer = await query
  assert.equal(answer.error, null, JSON.stringify(answer.error))
  if (status) assert.equal(answer.status, status)
  return answer
}
const refused = async (query, status, code) => {
  const { error, status: got, data } = await query
  assert.equal(data, null)
  assert.equal(got, status)
  assert.equal(error.code, code, JSON.stringify(error))
  assert.ok(error.message.length > 0)
}

// Inserts: one, many, upsert.
await ok(server.from('tasks').insert({ id: 'a', title: 'Alpha', qty: 1, owner: 'ann', meta: { tags: ['x'], n: 1 } }), 201)
const { data: made } = await ok(
  server.from('tasks').insert([
    { id: 'b', title: 'Beta', qty: 2, owner: 'bob', meta: { tags: [], n: 10 } },
    { id: 'c', title: null, qty: 3 },
  ]).select('id,qty'),
  201,
)
assert.deepEqual(made, [{ id: 'b', qty: 2 }, { id: 'c', qty: 3 }])
await refused(server.from('tasks').insert({ id: 'a' }), 409, '23505')
const { data: merged } = await ok(server.from('tasks').upsert({ id: 'c', qty: 30 }).select().single(), 200)
assert.equal(merged.qty, 30)
await ok(server.from('tasks').upsert([{ id: 'c', qty: 0 }], { onConflict: 'id', ignoreDuplicates: true }))

// Reads.
const ids = async (query) => (await ok(query)).data.map((row) => row.id).join('')
const tasks = () => server.from('tasks').select('*')
assert.equal(await ids(tasks().eq('qty', 1)), 'a')
assert.equal(await ids(tasks().neq('qty', 1)), 'bc')
assert.equal(await ids(tasks().gt('qty', 1).lte('qty', 2)), 'b')
assert.equal(await ids(tasks().in('title', ['Alpha', 'Be,"ta'])), 'a')
assert.equal(await ids(tasks().like('title', '%et%')), 'b')
assert.equal(await ids(tasks().ilike('title', 'ALPHA')), 'a')
assert.equal(await ids(tasks().likeAnyOf('title', ['A%', 'B%'])), 'ab')
assert.equal(await ids(tasks().is('title', null)), 'c')
assert.equal(await ids(tasks().not('title', 'is', null)), 'ab')
assert.equal(await ids(tasks().or('qty.eq.1,title.is.null')), 'ac')
assert.equal(await ids(tasks().match({ qty: 2, title: 'Beta' })), 'b')
assert.equal(await ids(tasks().filter('title', 'match', '^A.*a$')), 'a')
assert.equal(await ids(tasks().contains('meta', { n: 1 })), 'a')
assert.equal(await ids(tasks().eq('meta->>n', '10')), 'b')
assert.equal(await ids(tasks().order('qty', { ascending: false })), 'cba')
assert.equal(await ids(tasks().order('title', { nullsFirst: true })), 'cab')
assert.equal(await ids(tasks().range(1, 2)), 'bc')
assert.equal(await ids(tasks().limit(1)), 'a')

const counted = await ok(server.from('tasks').select('*', { count: 'exact', head: true }))
assert.equal(counted.count, 3)
const page = await ok(server.from('tasks').select('id', { count: 'exact' }).range(0, 0), 206)
assert.deepEqual([page.count, page.data], [3, [{ id: 'a' }]])
const { data: one } = await ok(server.from('tasks').select('title,n:meta->n,qty::text').eq('id', 'a').single())
assert.deepEqual(one, { title: 'Alpha', n: 1, qty: '1' })
const { data: none } = await ok(server.from('tasks').select().eq('id', 'zz').maybeSingle())
assert.equal(none, null)
await refused(server.from('tasks').select().single(), 406, 'PGRST116')
const { data: sums } = await ok(server.from('tasks').select('qty.sum(),count()'))
assert.deepEqual(sums, [{ sum: 33, count: 3 }])
const { data: csv } = await ok(server.from('tasks').select('id,title').order('id').csv())
assert.equal(csv, 'id,title\r\na,Alpha\r\nb,Beta\r\nc,\r\n')
const { data: stripped } = await ok(server.from('tasks').select('id,title').eq('id', 'c').stripNulls())
assert.deepEqual(stripped, [{ id: 'c' }])

// Changes.
const { data: changed } = await ok(server.from('tasks').update({ qty: 5 }).eq('id', 'b').select('id,qty'), 200)
assert.deepEqual(changed, [{ id: 'b', qty: 5 }])
await refused(server.from('tasks').update({ qty: 5 }), 400, '21000')
await refused(server.from('tasks').update({ qty: 9 }).gte('qty', 0).select().single(), 406, 'PGRST116')
assert.equal(await ids(tasks().eq('qty', 9)), '')
await refused(server.from('tasks').update({ qty: 9 }).gte('qty', 0).maxAffected(1), 400, 'PGRST124')

// Rules: visitors see titles, people their own rows.
await refused(visitor.from('tasks').select('owner'), 400, '42703')
const { data: seen } = await ok(visitor.from('tasks').select('*').order('id'))
assert.deepEqual(seen[0], { id: 'a', title: 'Alpha' })
await refused(visitor.from('tasks').insert({ title: 'x' }), 403, '42501')
assert.equal(await ids(person.from('tasks').select('id').eq('owner', 'ann')), 'a')
await ok(person.from('tasks').insert({ id: 'd', owner: 'ann', title: 'Delta' }), 201)
await refused(person.from('tasks').insert({ owner: 'bob' }), 403, '42501')
await refused(as(publishable, `${token}x`).from('tasks').select(), 401, 'PGRST301')
await refused(server.from('nothing').select(), 404, 'PGRST205')

const { data: gone } = await ok(server.from('tasks').delete().in('id', ['a', 'b', 'c', 'd']).select('id'), 200)
assert.equal(gone.length, 4)
console.log('every check passed')
