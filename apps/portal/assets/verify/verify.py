import hashlib, hmac, re, time

def is_genuine(raw_body: bytes, header: str | None, secret: str, now: float | None = None) -> bool:
    fields = [field.partition("=")[::2] for field in (header or "").split(",")]
    timestamp = next((value for name, value in fields if name == "t"), "")
    if not secret or not re.fullmatch("[0-9]{1,12}", timestamp) or abs((now or time.time()) - int(timestamp)) > 300:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, value in fields)
