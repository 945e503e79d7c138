// Types of requests and responses, from the API's description.

import type { components, paths } from '#api-types';

/** Objects of the API by their names in its description. */
export type Schemas = components['schemas'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Paths that have an operation with this method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths];

type OperationOf<P extends PathOf<M>, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;

type JsonOf<R> = R extends { content: infer C } ? (C extends Record<string, unknown> ? C[keyof C] : undefined) : undefined;
type SuccessOf<R> = R extends object ? { [S in keyof R & (200 | 201 | 202 | 206)]: JsonOf<R[S]> }[keyof R & (200 | 201 | 202 | 206)] : never;

/** Body of the successful response. */
export type Reply<P extends PathOf<M>, M extends Method> = OperationOf<P, M> extends { responses: infer R } ? SuccessOf<R> : never;

type ParametersOf<O> = O extends { parameters: infer R } ? R : never;
type PathParameters<O> = ParametersOf<O> extends { path: infer V extends object } ? { path: V } : { path?: never };
type QueryParameters<O> = ParametersOf<O> extends { query?: infer V }
  ? [NonNullable<V>] extends [never] ? { query?: never } : { query?: { [K in keyof V]?: V[K] | undefined } }
  : { query?: never };
type BodyOf<O> = O extends { requestBody: { content: infer C } }
  ? { body: C[keyof C] }
  : O extends { requestBody?: { content: infer C } } ? { body?: C[keyof C] } : { body?: never };

/** What a request needs beside its path. */
export type Input<P extends PathOf<M>, M extends Method> = PathParameters<OperationOf<P, M>> & QueryParameters<OperationOf<P, M>> & BodyOf<OperationOf<P, M>>;
