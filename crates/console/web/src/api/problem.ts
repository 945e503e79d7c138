// Refusals and failures of the API.

/** What the API says when it refuses, or what became of a request that got no response. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    /** Status of the response; 0 if there was none. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly requestId: string | null = null,
    /** Seconds after which a retry may succeed. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** Whether the server was not reached. */
  get isOffline(): boolean {
    return this.status === 0;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Code of a request that got no response. */
export const OFFLINE = 'offline';

/** Returns `error` as a problem. A mistake of the console's own is one too, so that it is shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, 'console_error', error instanceof Error ? error.message : String(error));
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly hint?: string | null };
  readonly requestId?: string;
}

/** Reads the problem from a response. */
export async function problemOf(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const retryAfter = Number(response.headers.get('retry-after'));
  return new Problem(
    response.status,
    body.error?.code ?? `http_${response.status}`,
    body.error?.message ?? response.statusText,
    body.error?.hint ?? null,
    body.requestId ?? response.headers.get('x-request-id'),
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
  );
}
