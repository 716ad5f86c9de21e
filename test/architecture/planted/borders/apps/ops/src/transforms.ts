// caught by: class-validator-below-http-only
export { plainToInstance } from 'class-transformer';
