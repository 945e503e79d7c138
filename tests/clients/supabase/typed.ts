// Types of a project, as `_types.ts` gives them, in the clients that take them. It is checked and never run.

import { createClient } from '@supabase/supabase-js'
import type { Database as Whole, Tables, TablesInsert } from './secret.js'
import type { Database as Narrow } from './publishable.js'

const server = createClient<Whole>('https://qala.example', 'key')
const visitor = createClient<Narrow>('https://qala.example', 'key')

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <T extends true>(): T => true as T

export const checks = async () => {
  const { data } = await server.from('tasks').select('id, title, qty, meta').single()
  same<Same<NonNullable<typeof data>['id'], string>>()
  same<Same<NonNullable<typeof data>['title'], string | null>>()
  same<Same<NonNullable<typeof data>['qty'], number | null>>()
  await server.from('tasks').insert({ title: 'x', qty: 1, meta: { a: [1, null] } })
  await server.from('tasks').update({ qty: null }).eq('id', 'a')
  const row: Tables<'tasks'>['created_at'] = 'now'
  const fresh: TablesInsert<'tasks'> = {}
  await server.from('tasks').upsert([fresh, { id: row }])
  await visitor.from('tasks').select('id, title').order('id')

  // @ts-expect-error there is no such table
  await server.from('nope').select()
  // @ts-expect-error qty is a number
  await server.from('tasks').insert({ qty: 'many' })
  // @ts-expect-error the server sets it
  await server.from('tasks').insert({ created_at: 'now' })
  // @ts-expect-error a visitor may not write
  await visitor.from('tasks').insert({ title: 'x' })
  const hidden = await visitor.from('tasks').select('id, title').single()
  // @ts-expect-error a visitor does not see it
  hidden.data?.qty
}
