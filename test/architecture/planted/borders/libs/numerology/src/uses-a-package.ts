// caught by: numerology-stands-alone
export { z } from 'zod';
