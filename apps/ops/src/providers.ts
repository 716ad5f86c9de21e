import 'reflect-metadata';
import {
  MODULE_METADATA,
  PARAMTYPES_METADATA,
  SELF_DECLARED_DEPS_METADATA,
} from '@nestjs/common/constants.js';
import { handledBy, type Message } from '@app/platform/cqrs/handler.js';

type Class = new (...parameters: never[]) => object;
/** What a module lists below `providers`: the forms in use. */
type Provider =
  | Class
  | { readonly provide: unknown; readonly useValue: unknown }
  | {
      readonly provide: unknown;
      readonly useFactory: (...parameters: unknown[]) => unknown;
      readonly inject?: readonly unknown[];
    };

/**
 * Makes what the modules declare, each provider once and only when something asks for it. Nest makes all of them, and
 * loading Nest takes longer than most commands.
 */
export class Providers {
  private readonly declared = new Map<unknown, Provider>();
  private readonly handlers = new Map<Message, Class>();

  /** @param made what the modules take from the platform, by token */
  constructor(private readonly made: Map<unknown, unknown>) {}

  /** Adds the providers of a module. */
  add(module: object): void {
    for (const provider of (Reflect.getMetadata(MODULE_METADATA.PROVIDERS, module) ?? []) as Provider[]) {
      this.declared.set(typeof provider === 'function' ? provider : provider.provide, provider);
      const message = handledBy(provider);
      if (message) this.handlers.set(message, provider as Class);
    }
  }

  /** The class that handles a message, if a module was added that has one. */
  handlerOf(message: Message): Class | undefined {
    return this.handlers.get(message);
  }

  /** @throws Error when no module declares it */
  get(token: unknown): unknown {
    if (!this.made.has(token)) this.made.set(token, this.make(token));
    return this.made.get(token);
  }

  private make(token: unknown): unknown {
    const provider = this.declared.get(token);
    if (!provider)
      throw new Error(`No provider of ${typeof token === 'function' ? token.name : String(token)}`);
    if (typeof provider === 'function')
      return new provider(...(tokensOf(provider).map((one) => this.get(one)) as never[]));
    if ('useValue' in provider) return provider.useValue;
    return provider.useFactory(...(provider.inject ?? []).map((one) => this.get(one)));
  }
}

/** The token of each constructor parameter: its class, or what `@Inject` names. */
const tokensOf = (provider: Class): readonly unknown[] => {
  const tokens = [...((Reflect.getMetadata(PARAMTYPES_METADATA, provider) ?? []) as unknown[])];
  const named = (Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, provider) ?? []) as {
    index: number;
    param: unknown;
  }[];
  for (const { index, param } of named) tokens[index] = param;
  return tokens;
};
