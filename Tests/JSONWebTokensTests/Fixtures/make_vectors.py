#!/usr/bin/env python3
"""Makes vectors.txt: keys and tokens by PyJWT and cryptography, which share no code with ours but libcrypto.

    python3 -m venv V && V/bin/pip install PyJWT cryptography && V/bin/python make_vectors.py > vectors.txt

One line each, with tabs between: NAME, EXPECTED ("passes", or the case of TokenError), TOKEN. Before them KEYS, a JWK
Set, and PEM blocks, each on one line with "|" for its line ends. All tokens are judged at 1,700,000,000 s with a leeway
of 10 s, issuer https://issuer.example, audience api, viewer sub. Keys are new in each run.
"""

import base64
import datetime
import json

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

NOW = 1_700_000_000
SECRET = bytes(range(7, 7 + 48))


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ec_key = ec.generate_private_key(ec.SECP256R1())
ed_key = ed25519.Ed25519PrivateKey.generate()
p384_key = ec.generate_private_key(ec.SECP384R1())
k1_key = ec.generate_private_key(ec.SECP256K1())


def jwk(kind, key, kid, **more):
    made = json.loads(getattr(jwt.algorithms, kind).to_jwk(key))
    made.pop("key_ops", None)
    return made | {"kid": kid} | more


KEYS = {"keys": [
    {"kty": "oct", "kid": "hs", "k": text(SECRET), "alg": "HS256"},
    jwk("RSAAlgorithm", rsa_key.public_key(), "rs", use="sig", alg="RS256"),
    jwk("ECAlgorithm", ec_key.public_key(), "es", key_ops=["verify"]),
    jwk("OKPAlgorithm", ed_key.public_key(), "ed"),
    jwk("ECAlgorithm", p384_key.public_key(), "p384"),
    jwk("ECAlgorithm", k1_key.public_key(), "k1"),
]}


def pem(key):
    block = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return block.decode().strip().replace("\n", "|")


def certificate(key):
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer.example")])
    day = datetime.datetime(2020, 1, 1)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(7).not_valid_before(day).not_valid_after(day + datetime.timedelta(days=1))
            .sign(key, hashes.SHA256()))
    return made.public_bytes(serialization.Encoding.PEM).decode().strip().replace("\n", "|")


print("KEYS\t" + json.dumps(KEYS))
print("PEM\trsa\t" + pem(rsa_key.public_key()))
print("PEM\tec\t" + pem(ec_key.public_key()))
print("PEM\ted\t" + pem(ed_key.public_key()))
print("PEM\tcertificate\t" + certificate(rsa_key))
print("PEM\tec certificate\t" + certificate(ec_key))
print("PEM\tp384\t" + pem(p384_key.public_key()))

GOOD = {"sub": "ada", "iss": "https://issuer.example", "aud": "api", "exp": NOW + 60, "nbf": NOW - 60,
        "iat": NOW - 60, "roles": ["admin", "editor"]}
SIGNERS = {"HS256": (SECRET, "hs"), "RS256": (rsa_key, "rs"), "ES256": (ec_key, "es"), "EdDSA": (ed_key, "ed")}


def line(name, expected, token):
    print(f"{name}\t{expected}\t{token}")


def change(**changes):
    return {k: v for k, v in (GOOD | changes).items() if v is not None}


for alg, (key, kid) in SIGNERS.items():
    def sign(claims=GOOD, kid=kid, **headers):
        return jwt.encode(claims, key, alg, headers=({"kid": kid} if kid else {}) | headers)

    line(f"{alg}", "passes", sign())
    line(f"{alg} without kid", "passes", sign(kid=None))
    line(f"{alg} audience in a list", "passes", sign(change(aud=["web", "api"])))
    line(f"{alg} type at+jwt", "passes", sign(typ="at+jwt"))
    line(f"{alg} fraction", "passes", sign(change(exp=NOW + 0.5, nbf=NOW - 0.5)))
    line(f"{alg} unknown kid", "unknownKey", sign(kid="other"))
    line(f"{alg} expired within the leeway", "passes", sign(change(exp=NOW - 9)))
    line(f"{alg} expired by the leeway", "expired", sign(change(exp=NOW - 10)))
    line(f"{alg} without exp", "missing", sign(change(exp=None)))
    line(f"{alg} begins within the leeway", "passes", sign(change(nbf=NOW + 10)))
    line(f"{alg} begins later", "notYetValid", sign(change(nbf=NOW + 11)))
    line(f"{alg} issued later", "issuedInFuture", sign(change(iat=NOW + 11)))
    line(f"{alg} other issuer", "wrongIssuer", sign(change(iss="https://issuer.example/")))
    line(f"{alg} no issuer", "missing", sign(change(iss=None)))
    line(f"{alg} other audience", "wrongAudience", sign(change(aud=["web"])))
    line(f"{alg} no audience", "missing", sign(change(aud=None)))
    line(f"{alg} no sub", "missing", sign(change(sub=None)))
    line(f"{alg} crit", "critical", sign(crit=["exp"]))
    line(f"{alg} logout token", "otherType", sign(typ="logout+jwt"))
    for other, (_, other_kid) in SIGNERS.items():
        if other != alg:
            line(f"{alg} with the kid of {other}", "otherAlgorithm", sign(kid=other_kid))

line("none", "unsigned", jwt.encode(GOOD, None, "none"))
line("HS512", "unknownAlgorithm", jwt.encode(GOOD, SECRET * 2, "HS512"))
line("PS256", "unknownAlgorithm", jwt.encode(GOOD, rsa_key, "PS256", headers={"kid": "rs"}))
line("ES384", "unknownAlgorithm", jwt.encode(GOOD, p384_key, "ES384", headers={"kid": "p384"}))
line("ES256K", "unknownAlgorithm", jwt.encode(GOOD, k1_key, "ES256K", headers={"kid": "k1"}))
other_ec = ec.generate_private_key(ec.SECP256R1())
line("ES256 by another key", "wrongSignature", jwt.encode(GOOD, other_ec, "ES256", headers={"kid": "es"}))
other_rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
line("RS256 by another key", "wrongSignature", jwt.encode(GOOD, other_rsa, "RS256", headers={"kid": "rs"}))
line("HS256 by another secret", "wrongSignature", jwt.encode(GOOD, SECRET[1:], "HS256", headers={"kid": "hs"}))
