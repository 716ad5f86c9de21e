import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { flag, setting } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** Bearer tokens and API keys of callers. */
export const settings = {
  TOKEN_ISSUER: setting(
    z.string().min(1).optional(),
    'issuer of bearer tokens (the claim iss); without it no token is accepted',
  ),
  TOKEN_AUDIENCE: setting(z.string().min(1).default('reading-service'), 'audience of bearer tokens (aud)'),
  TOKEN_JWKS_URL: setting(
    z
      .url({ protocol: /^https$/, error: 'must be of the form https://host/path' })
      .refine(
        (text) => /^https:\/\/[^/@?#]+([/?][^#]*)?$/i.test(text),
        'must be of the form https://host/path, without login and fragment',
      )
      .optional(),
    'where the public keys of the issuer are, as https://…/jwks.json',
  ),
  TOKEN_JWKS: setting(
    z
      .string()
      .transform((text, context) => parseJwks(text, context))
      .optional(),
    'the public keys of the issuer themselves, a JSON Web Key Set; used instead of TOKEN_JWKS_URL',
  ),
  TOKEN_SIGNING_KEY: setting(
    z.string().optional(),
    'private key (JWK) with which ops token mint signs; the embedded stack’s own issuer, never needed by API or worker',
  ),
  PORTAL: flag(
    'whether the API serves the workspace portal under /portal (1 or 0); it then needs PUBLIC_URL, unless HOST is of this machine alone',
  ),
  PORTAL_FRAME_ANCESTORS: setting(
    z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter(Boolean))
      .pipe(
        z.array(
          z.string().regex(/^https:\/\/[^/*\s;,'"]+$/, 'must be origins such as https://app.example.com'),
        ),
      )
      .default([]),
    'origins whose pages may show the portal in a frame, comma-separated; they must be of the same site, or the browser keeps the session back',
  ),
};

export type Config = ConfigWith<typeof settings>;

const parseJwks = (text: string, context: z.RefinementCtx): JSONWebKeySet => {
  try {
    const { keys } = JSON.parse(text) as JSONWebKeySet;
    if (Array.isArray(keys) && keys.length > 0 && keys.every(({ kty, d }) => kty && d === undefined))
      return { keys };
  } catch {
    // Reported below, like any other text that is not a key set.
  }
  context.addIssue({ code: 'custom', message: 'must be a JSON Web Key Set of public keys, {"keys":[…]}' });
  return z.NEVER;
};
