import { z } from 'zod';
import { setting } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** Where documents are read. */
export const settings = {
  PUBLIC_URL: setting(
    z
      .url({ protocol: /^https?$/, error: 'must be of the form https://host, with a path at most' })
      .refine(
        (text) => /^https?:\/\/[^/@?#]+(\/[^?#]*)?$/i.test(text),
        'must be of the form https://host, without login, query and fragment',
      )
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    'where callers reach the API, as https://readings.example.com; links to documents and to the portal begin with it. Default: http and the address it listens on',
  ),
};

export type Config = ConfigWith<typeof settings>;
