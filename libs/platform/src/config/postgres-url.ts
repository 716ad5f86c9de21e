import { z } from 'zod';

/** The driver knows one host, and does not look for a primary among several. */
export const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  hostname: /^[^,]*$/,
  error: ({ input }) =>
    /^\w+:\/\/([^/?]*@)?[^/?@]*,/.test(String(input))
      ? 'names several hosts: name one, such as a proxy that leads to the primary'
      : 'must be a URL of PostgreSQL',
});
