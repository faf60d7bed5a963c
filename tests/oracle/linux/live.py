KEYS = ()


def main(x):
    return 0
