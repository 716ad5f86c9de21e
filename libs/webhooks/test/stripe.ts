import { createRequire } from 'node:module';

/** What receivers use of the `stripe` package. */
interface StripeWebhooks {
  /** @throws Error unless the signature is valid; `receivedAt` is in milliseconds, `tolerance` in seconds */
  constructEvent(
    body: Buffer,
    header: string,
    secret: string,
    tolerance?: number,
    cryptoProvider?: undefined,
    receivedAt?: number,
  ): { readonly id: string };
}
type Stripe = new (apiKey: string) => { readonly webhooks: StripeWebhooks };

const load = createRequire(import.meta.url);

/** An import would give TypeScript the package's types: more text than this whole repository's code. */
export const stripe = new (load('stripe') as Stripe)('sk_test_unused').webhooks;
