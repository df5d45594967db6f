/** The optional parts of a request to the API. */
export interface RequestParts {
  key?: string;
  headers?: Record<string, string>;
  /** Text is sent unchanged. */
  body?: object | string;
}

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

/** A send in a response of the API. */
export interface SendView {
  id: string;
  status: string;
  verification: string;
  mode: string;
  channel: string | null;
  from: string | null;
  expires_at: string;
  created_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  read_at: string | null;
  verified_at: string | null;
  failed_at: string | null;
  failure_reason: string | null;
}

/** Makes one request. A response body that is not a JSON object is returned as text. */
export async function request<Body>(
  url: string,
  method: string,
  { key, headers = {}, body }: RequestParts,
): Promise<Answer<Body>> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text.startsWith('{') ? JSON.parse(text) : text) as Body,
  };
}

/** Returns the response's body. @throws if the response has another status */
export function bodyOf<Body>(answer: Answer<Body>, status: number): Body {
  if (answer.status !== status)
    throw new Error(`the API answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
